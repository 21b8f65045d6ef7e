"""What an event means for a repository, with a reason."""
