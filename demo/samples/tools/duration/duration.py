"""Durations as people write them."""

import re

_UNITS = {"h": 3600, "m": 60, "s": 1}
_FORM = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")


def parse_duration(text: str) -> int:
    """Seconds in a text such as `1h30m` or `45s`; raises ValueError for anything else."""
    match = _FORM.fullmatch(text)
    if match is None or not any(match.groups()):
        raise ValueError(f"not a duration: {text!r}")
    return sum(int(number) * _UNITS[unit] for number, unit in zip(match.groups(), "hms") if number)
