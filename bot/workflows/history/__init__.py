"""What runs and people teach the error history, and what it adds to a report."""
