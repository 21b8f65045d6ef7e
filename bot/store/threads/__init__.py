"""What was settled about issues and pull requests."""
