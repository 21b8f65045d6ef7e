"""Finds the error with which an installer stopped: npm, pnpm, yarn, bun, pip, uv, poetry, pdm, cargo, go. The
failure of a script that an installer runs is left to the readers of that script's own log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import dropwhile, takewhile
from typing import NamedTuple

_MAX_LINES = 40


class Stopped(NamedTuple):
    """The error in one line, and the lines that show it."""

    message: str
    lines: range


_NPM = re.compile(r"npm (?:ERR!|error)(?: (?P<text>.*))?$")
_NPM_CODE = re.compile(r"code (?P<code>E(?!LIFECYCLE)[A-Z0-9_]+)$")
_NPM_NOISE = re.compile(r"A complete log of this run|^(?:errno|syscall|path|notarget|404)?$")
_STARTS: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (part, re.compile(begins), re.compile(more))
    for part, begins, more in (
        # (a text that the line holds, the line that names what is wrong, the lines below it that belong to it)
        ("ERR_PNPM_", r"\s*\[?(?P<message>ERR_PNPM_.+)$", r"\s*\S|$"),
        ("ERROR: ", r"\s*(?P<message>ERROR: (?!.*Exited with code).+)$", r"\s|ERROR: |\[|╰|hint: "),
        ("error: subprocess", r"\s*(?P<message>error: subprocess-exited-with-error)$", r"\s|$|[×│╰]"),
        ("× ", r"\s*× (?P<message>.+)$", r"\s|[├│╰]|hint: "),
        (
            "error: ",
            r"(?P<message>error: (?!script|Recipe|aborting|could not compile|test failed).+)$",
            r".|$",
        ),
        ("error ", r"(?P<message>error (?!Command failed|TS\d)[A-Z\"].+)$", r"\s|info "),
        (
            "YN0",
            r"➤ (?P<message>YN(?!0000)\d{4}: │ .*(?:rror|[Ff]ail|forbidden|not found|doesn't|can't).*)$",
            r"➤ YN0",
        ),
        ("go: ", r"(?P<message>go: (?!downloading|finding|extracting|added|upgraded).+)$", r"\s"),
    )
)


def stopped_installer(lines: Sequence[str]) -> Stopped | None:
    """Why the installer whose log this is stopped; None where it does not read like one's."""
    found = [one for one in (_npm(lines), *(_started(lines, *start) for start in _STARTS)) if one is not None]
    return min(found, key=lambda one: one.lines.start, default=None)


def _npm(lines: Sequence[str]) -> Stopped | None:
    own = [(at, match["text"] or "") for at, line in enumerate(lines) if "npm " in line and (match := _NPM.match(line))]
    coded = next((at for at, text in own if _NPM_CODE.match(text)), None)
    if coded is None:
        return None
    after = dropwhile(lambda text: _NPM_NOISE.search(text), (text.strip() for at, text in own if at > coded))
    message = " ".join(takewhile(bool, after))
    code = lines[coded].rpartition(" ")[2]
    end = coded + 1
    while end < len(lines) and end - coded < _MAX_LINES and _NPM.match(lines[end]):
        end += 1
    return Stopped(f"npm: {code}: {message}" if message else f"npm: {code}", range(coded, end))


def _started(lines: Sequence[str], part: str, begins: re.Pattern[str], more: re.Pattern[str]) -> Stopped | None:
    for at, line in enumerate(lines):
        found = begins.match(line) if part in line else None
        if found is None:
            continue
        end = at + 1
        while end < len(lines) and end - at < _MAX_LINES and more.match(lines[end]):
            end += 1
        return Stopped(" ".join(found["message"].split()), range(at, end))
    return None
