"""How a commit leaves this machine: pushes, their limits, conflicts with other groups."""
