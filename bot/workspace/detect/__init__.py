"""Which command runs a check in a tree, by its files."""
