"""Finds changes that weaken checks: weakened tests, forced passes, edited configuration."""
