"""Checks that a change made blind: weakened tests, forced passes, edited configuration."""
