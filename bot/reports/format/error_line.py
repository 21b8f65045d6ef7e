"""An error as a person reads it: the line that the tool printed, or the normalised error without placeholders.

A normalised error such as `<PATH>/cart.py:<POS>: error: no` identifies an error (REQ-RA-310), but is hard to read."""

from __future__ import annotations

import re

from bot.reports.format.truncate import one_line

_MAX_CHARS = 2_000
_PLACEHOLDER = "(?:PATH|TIME|ID|ADDR|PORT|TMP|POS|STR|N)"
_REPLACEMENTS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"^(.{195,199})<[A-Z]{0,4}$", r"\1…"),  # a placeholder that is cut off at the key's end
        (r"<PATH>/", ""),
        (r"^(?:<POS>\s(?:\|\s)?|E\s+)", ""),
        (r":<POS>|\(<POS>\)|\s\(<TIME>\)|\s<TIME>$", ""),
        (r",? (?:\w+[ :=#])?\(?(?:char|col(?:umn)?|position) <POS>\)?", ""),
        (rf"<{_PLACEHOLDER}>", "…"),
    )
)


def readable(error: str, raw: str = "") -> str:
    """Returns the first line of `raw`, the error as its tool printed it, or a readable form of the normalised `error`.

    The latter is used if `raw` is empty or repeats `error`. Placeholders are removed; `…` is returned if nothing else
    remains."""
    key = one_line(error, _MAX_CHARS)
    first = next((line for line in (one_line(line, _MAX_CHARS) for line in raw.splitlines()) if line), "")
    if first and one_line(raw, _MAX_CHARS) != key:
        return one_line(re.sub(r"^E\s+", "", first), _MAX_CHARS)
    text = key
    for pattern, replacement in _REPLACEMENTS:
        text = pattern.sub(replacement, text)
    return one_line(text, _MAX_CHARS) or ("…" if key else "")
