"""The agents of a run: built from its specs, asked for a change, their change examined."""
