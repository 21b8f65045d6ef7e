"""What the error history may say where, and how much a past resolution counts."""
