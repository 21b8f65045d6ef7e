"""Stored input: webhook deliveries, commands, and issues that wait to be grouped."""
