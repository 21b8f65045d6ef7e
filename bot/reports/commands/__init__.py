"""Replies to slash commands."""
