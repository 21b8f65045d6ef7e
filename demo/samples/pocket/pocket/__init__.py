"""Small tools for durations and tables."""
