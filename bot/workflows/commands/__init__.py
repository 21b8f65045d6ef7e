"""Slash commands at work: acknowledged at once, run by a job, answered in one place per thread."""
