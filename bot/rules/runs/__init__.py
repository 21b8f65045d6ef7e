"""A fix run: its specification, its state as a fold over its events, and its next action."""
