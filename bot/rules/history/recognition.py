"""Finds which findings of a check are known errors, so that a past resolution can be shown at their line. Tools
print a finding with its place and rule around it, so its message is searched for inside the known text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from bot.model import Annotation, KnownError
from bot.rules.failures.normalize import LIMIT, normalize_error
from bot.rules.history.known_errors import base_name

TELLING = 8
"""The minimum length of a message: a shorter one, such as `error`, is part of many texts."""
_READ = 2 * LIMIT
"""The maximum length of a message that is compared, as normalised texts are cut too."""


def recognised(
    findings: Iterable[Annotation], known: Sequence[KnownError]
) -> tuple[tuple[Annotation, KnownError], ...]:
    """Each finding that is a known error, with that error (REQ-RA-312): one that names the finding's file, else the
    first.

    Of a message with several lines, the first line is compared."""
    if not known:
        return ()
    pairs = ((finding, _match(finding, known)) for finding in findings)
    return tuple((finding, match) for finding, match in pairs if match is not None)


def _match(finding: Annotation, known: Sequence[KnownError]) -> KnownError | None:
    first = next((line for line in finding.message.splitlines() if line.strip()), "")
    message = normalize_error(first[:_READ])
    if len(message) < TELLING:
        return None
    found = [one for one in known if _holds(one.error, message)]
    name = base_name(finding.path)
    return next((one for one in found if name and name in one.error), found[0] if found else None)


def _holds(error: str, message: str) -> bool:
    """Whether the text contains the message as whole words; where the text was cut, the end of the message may be
    missing."""
    if re.search(rf"(?<!\w){re.escape(message)}(?!\w)", error):
        return True
    at = error.find(message[:TELLING])
    # one less, as a space that the cut left at the end is trimmed
    return at >= 0 and len(error) >= LIMIT - 1 and len(error) - at >= LIMIT // 4 and message.startswith(error[at:])
