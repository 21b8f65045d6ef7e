"""Texts of the check runs and comments on a pull request."""
