"""The dashboard issue of a repository."""
