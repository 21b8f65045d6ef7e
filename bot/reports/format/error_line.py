"""An error as people are shown it: the line that the tool printed, or what is known of it without the masks of its key.
`<PATH>/cart.py:<POS>: error: no` finds an error again (REQ-RA-310) and tells nobody anything."""

from __future__ import annotations

import re

from bot.reports.format.truncate import one_line

_MAX_SHOWN = 2_000
_MASK = "(?:PATH|TIME|ID|ADDR|PORT|TMP|POS|STR|N)"
_UNMASKED: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), shown)
    for pattern, shown in (
        (r"^(.{195,199})<[A-Z]{0,4}$", r"\1…"),  # one that the key's end cuts through
        (r"<PATH>/", ""),
        (r"^(?:<POS>\s(?:\|\s)?|E\s+)", ""),
        (r":<POS>|\(<POS>\)|\s\(<TIME>\)|\s<TIME>$", ""),
        (r",? (?:\w+[ :=#])?\(?(?:char|col(?:umn)?|position) <POS>\)?", ""),
        (rf"<{_MASK}>", "…"),
    )
)


def readable(error: str, raw: str = "") -> str:
    """The first line of `raw`, the error as it was printed; else the normalised `error` with its masks taken out, `…`
    where it is nothing else. What was recorded by its key alone has that for `raw`, too."""
    key = one_line(error, _MAX_SHOWN)
    first = next((line for line in (one_line(line, _MAX_SHOWN) for line in raw.splitlines()) if line), "")
    if first and one_line(raw, _MAX_SHOWN) != key:
        return one_line(re.sub(r"^E\s+", "", first), _MAX_SHOWN)
    shown = key
    for pattern, instead in _UNMASKED:
        shown = pattern.sub(instead, shown)
    return one_line(shown, _MAX_SHOWN) or ("…" if key else "")
