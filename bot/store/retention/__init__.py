"""What is old goes, a few rows at a time."""
