"""Checks pull requests: which heads, the checks themselves, whose failures they show, and the reports."""
