"""Whether a run of tests executed what a change altered."""
