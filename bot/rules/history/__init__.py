"""Decides which known errors of the history apply, and how much a past resolution counts."""
