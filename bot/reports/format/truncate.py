"""Limits the size of a text and makes it safe to embed: control characters, cuts that name what they drop, fences.

GitHub counts comments in characters and check output in bytes (threats.md 4), so there is a cut for each."""

from __future__ import annotations

import re
from typing import Literal

from bot.model import Language

COMMENT_CHARS = 65_000
"""GitHub answers 422 above 65,536 characters; the rest is space for the marker (threats.md 4)."""

CHECK_BYTES = 65_000
"""GitHub enforces 65,535 *bytes* on a check run's summary and text (github/docs#35252)."""

_MAX_LINE_LOSS = 4_000
"""The maximum number of characters that are dropped so that a cut falls between two lines."""

_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f]"  # as the first part of all, it lets the search skip other text quickly
    r"(?:(?<=\x1b)\[[0-?]*+[ -/]*+[@-~]"  # CSI: colours, cursor (ECMA-48 5.4)
    r"|(?<=\x9b)[0-?]*+[ -/]*+[@-~]"
    r"|(?:(?<=\x1b)[\]PX^_]|(?<=[\x9d\x90\x98\x9e\x9f]))[^\x07\x1b\x9c\n]*+(?:\x07|\x1b\\|\x9c)?"  # OSC and its like
    r"|(?<=\x1b)[ -/]*+[0-~]?)?"
)
_INVISIBLE = re.compile("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]")
"""Bidirectional controls (CVE-2021-42574), line separators that only some programs heed, invisible tag letters."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def strip_control(text: str) -> str:
    """Returns the text without terminal sequences and control characters, except `\\n` and `\\t`.

    Invisible characters are escaped, such as `\\u202e`. A lone `\\r` becomes a line break, so that overwritten text
    stays readable (T38)."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _CONTROL.sub("", text)
    text = _INVISIBLE.sub(lambda match: match.group().encode("unicode_escape").decode(), text)
    return _SURROGATE.sub("\ufffd", text)


def one_line(text: str, limit: int = 200) -> str:
    """Returns the text as one line of at most `limit` characters, with `…` at the end if it was cut."""
    line = " ".join(strip_control(text).split())
    return line if len(line) <= limit else line[: max(limit - 1, 0)].rstrip() + "…"[:limit]


def cut_middle(text: str, limit: int = 5000, language: Language = "en") -> str:
    """Returns at most `limit` characters: head and tail, and between them the number of characters dropped."""
    if len(text) <= limit:
        return text
    space = limit - len(_dropped(len(text), language))
    if space < 0:
        return text[:limit]
    head, tail = (space + 1) // 2, space // 2
    return text[:head] + _dropped(len(text) - space, language) + text[len(text) - tail :]


def cut_around(text: str, inner: str, limit: int = 5000) -> str:
    """As `cut_middle`, with `inner` between head and tail if the cut would drop it.

    `inner` is a part of the text, possibly without some lines. It is cut itself if it would fill the limit."""
    cut = cut_middle(text, limit)
    wanted = [line for line in inner.split("\n") if line.strip()]
    if len(text) <= limit or all(line in cut for line in wanted):
        return cut
    inner = cut_middle(inner.strip("\n"), limit * 3 // 5)
    space = max(0, limit - len(inner) - 2 * len(_dropped(len(text))))
    head, tail = space // 3, space - space // 3
    start = text.find(wanted[0])
    before = max(0, min(start if start >= 0 else head, len(text) - tail) - head)
    after = max(0, len(text) - tail - head - before - len(inner))
    parts = [text[:head], _dropped(before), inner, _dropped(after), text[len(text) - tail :]]
    return "".join(parts)[:limit]


def _dropped(count: int, language: Language = "en") -> str:
    return f"\n{cut_mark('characters', count, language)}\n"


def cut_mark(unit: Literal["characters", "lines", "bytes"], count: int, language: Language) -> str:
    """Returns the text that replaces so many characters, lines or bytes that were cut."""
    # imported here, as the command line imports this module but cuts nothing
    from bot.reports.locale.catalog import t

    return f"[… {t(language, f'cut.{unit}', count=count)} …]"


def cut_lines(text: str, limit: int = 40, width: int = 400, language: Language = "en") -> str:
    """Returns at most `limit` lines of at most `width` characters, with a mark in place of the middle lines dropped."""
    lines = [line if len(line) <= width else line[: width - 1] + "…" for line in text.split("\n")]
    if len(lines) <= limit:
        return "\n".join(lines)
    head, tail = limit // 2, limit - limit // 2 - 1
    middle = cut_mark("lines", len(lines) - head - tail, language)
    return "\n".join([*lines[:head], middle, *lines[len(lines) - tail :]])


def cut_bytes(text: str, limit: int = CHECK_BYTES, language: Language = "en") -> str:
    """Returns at most `limit` bytes of UTF-8, cut between code points; an open fence is closed and the cut marked
    (T39)."""
    return _cut(text, limit, language, in_bytes=True)


def cut_chars(text: str, limit: int = COMMENT_CHARS, language: Language = "en", *, whole_lines: bool = False) -> str:
    """As `cut_bytes`, but in characters: for comments and pull request bodies.

    `whole_lines` cuts between two lines, unless they are too long for it, so that no link is cut in two."""
    return _cut(text, limit, language, in_bytes=False, whole_lines=whole_lines)


def _cut(text: str, limit: int, language: Language, *, in_bytes: bool, whole_lines: bool = False) -> str:
    data = text.encode("utf-8", "replace")
    size = len(data) if in_bytes else len(text)
    if size <= limit:
        return data.decode("utf-8") if in_bytes else text
    size_limit = limit
    while size_limit >= 0:
        head = data[:size_limit].decode("utf-8", "ignore") if in_bytes else text[:size_limit]
        if whole_lines and (end := head.rfind("\n")) > max(0, len(head) - _MAX_LINE_LOSS):
            head = head[:end]
        head_size = len(head.encode("utf-8")) if in_bytes else len(head)
        fence_end = _open_fence(head)
        tail = f"\n{fence_end}" if fence_end else ""
        tail += f"\n\n{cut_mark('bytes' if in_bytes else 'characters', size - head_size, language)}"
        over = head_size + (len(tail.encode("utf-8")) if in_bytes else len(tail)) - limit
        if over <= 0:
            return head + tail
        # by half at most: closing a huge fence takes as much space, and a shorter head may have no open fence
        size_limit = min(size_limit - 1, max(head_size - over, size_limit // 2))
    return data[:limit].decode("utf-8", "ignore") if in_bytes else text[:limit]


def _open_fence(markdown: str) -> str:
    """Returns the fence that closes the one left open at the end, or an empty string (CommonMark 4.5)."""
    opened = ""
    for line in markdown.split("\n"):
        match = _FENCE.fullmatch(line)
        if match is None:
            continue
        mark, rest = match.group(1), match.group(2)
        if not opened:
            opened = mark if mark[0] == "~" or "`" not in rest else ""
        elif mark[0] == opened[0] and len(mark) >= len(opened) and not rest.strip():
            opened = ""
    return opened


def fence(text: str, info: str = "") -> str:
    """Returns a code block whose fence is longer than any run of backticks in the text, so that none ends it (T36)."""
    mark = "`" * max(3, _longest_run(text) + 1)
    return f"{mark}{re.sub('[^A-Za-z0-9+-]', '', info)}\n{text.rstrip(chr(10))}\n{mark}"


def inline_code(text: str, limit: int = 200) -> str:
    """Returns one line as a code span that its own backticks cannot end; an empty text is shown as `""`."""
    line = one_line(text, limit) or '""'
    mark = "`" * (_longest_run(line) + 1)
    pad = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{mark}{pad}{line}{pad}{mark}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)
