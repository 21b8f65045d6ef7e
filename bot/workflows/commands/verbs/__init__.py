"""The commands of comments, one verb per file."""
