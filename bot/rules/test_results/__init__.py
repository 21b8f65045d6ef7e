"""The tests that ran, their outcomes, and whether the same ones ran after a change."""
