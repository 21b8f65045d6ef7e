"""Checks of a pull request's head: which heads, their state, their next action."""
