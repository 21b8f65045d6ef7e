"""Excerpts of a log that show a failure to people and agents."""
