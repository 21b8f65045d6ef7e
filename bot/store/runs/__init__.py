"""Runs and checks of pull requests, their events, and what was reported of them."""
