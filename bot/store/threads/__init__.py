"""Approvals, heads, pauses, pins and pushed commits of issues and pull requests."""
