"""The messages of the reports, by language."""
