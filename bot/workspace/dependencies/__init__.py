"""Installed dependencies that are cached, copied and made to fit another tree."""
