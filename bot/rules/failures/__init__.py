"""From the log of a check to errors, fingerprints, annotations and verdicts."""

from bot.rules.failures.errors import classify
from bot.rules.failures.normalize import normalize_error

__all__ = ["classify", "normalize_error"]
