"""Newly installed repositories: their pull requests wait for a configuration or a command."""
