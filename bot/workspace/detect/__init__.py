"""Which command runs a check in a tree, told by its files."""
