"""Slash commands at work: heard and acknowledged at once, obeyed by a job, answered in one place per thread."""
