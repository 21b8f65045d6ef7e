"""How a tree is set up: planned by its files, then carried out."""
