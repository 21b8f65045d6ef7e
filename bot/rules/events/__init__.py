"""Parses the JSON of webhooks into a closed set of events."""
