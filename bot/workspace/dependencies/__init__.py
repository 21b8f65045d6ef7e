"""Installed dependencies that are kept, copied and made to fit another tree."""
