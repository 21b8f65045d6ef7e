"""Tools for coding agents over the Model Context Protocol: the same calls as the commands, with the same results."""
