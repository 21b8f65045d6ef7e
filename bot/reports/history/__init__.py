"""What the error history says."""
