"""DECIDES: every judgement the bot can make, as plain functions without I/O, clock, randomness or environment."""
