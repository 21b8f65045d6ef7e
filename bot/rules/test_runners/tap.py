"""Failed tests in the Test Anything Protocol (TAP), as node, tap, tape and mocha write it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.rules.test_runners.sections import Section, matching, parents, summary_line

_TAP = re.compile(r"(?P<indent> *)not ok \d+(?: -)? ?(?P<name>.*?)(?P<directive> # .*)?$")
_SUBTEST = re.compile(r"(?P<indent> *)# Subtest: (?P<name>.+)$")
_COMMENT = re.compile(r"# (?P<name>(?!tests\b|pass\b|fail\b|ok$|time=|suites\b|skip|todo|Subtest|\{).+)$")
_YAML_MESSAGE = re.compile(r"\s+(?:error|message): (?P<message>.+)$")
_BLOCK = re.compile(r"[|>][-+]?$")
_AT_LEAST = 2
_MAX_DIAGNOSIS_LINES = 2_000
"""Lines of one diagnosis."""


def read_tap(lines: Sequence[str]) -> Iterator[Section]:
    """By the path of subtests. Assertions, which tap and tape number too, belong to the test they stand in, and a test
    that failed by its subtests alone is none of its own."""
    subtests = dict(matching(lines, _SUBTEST, "# Subtest: "))
    path: list[tuple[int, str]] = []  # the subtests that are open, with their indentation
    comment = ""
    held: set[str] = set()  # what failed tests stand in
    for at, line in enumerate(lines):
        if at in subtests:
            indent = len(subtests[at]["indent"])
            path = [(deep, name) for deep, name in path if deep < indent] + [(indent, subtests[at]["name"])]
        elif not subtests and line.startswith("# ") and (named := _COMMENT.match(line)) is not None:
            comment = named["name"]
        found = _TAP.match(line) if "not ok " in line else None
        if found is None or re.match(r" # (?:TOD[O]|SKIP)\b", found["directive"] or "", re.IGNORECASE):
            continue
        end = _end_of_tap(lines, at)
        indent = len(found["indent"])
        title = found["name"].replace("\\#", "#")
        names = [name for deep, name in path if deep < indent or (deep == indent and name == title)]
        name = " › ".join(names) if subtests and names else comment or title
        if name in held:
            yield Section("", "", range(at, end))
            continue
        held.update(parents(name, " › "))
        own = name.endswith(title)
        message = _tap_message(lines[at + 1 : end])
        yield Section(name, message if own else title, range(at, end))


def _end_of_tap(lines: Sequence[str], at: int) -> int:
    """Behind the diagnosis: a block of YAML, or lines that stand deeper."""
    indent = len(lines[at]) - len(lines[at].lstrip())
    end = at + 1
    if end < len(lines) and lines[end].strip() == "---":
        close = " " * (indent + _AT_LEAST) + "..."
        return next(
            (line + 1 for line in range(end, min(end + _MAX_DIAGNOSIS_LINES, len(lines))) if lines[line] == close), end
        )
    while end < len(lines) and (not lines[end] or len(lines[end]) - len(lines[end].lstrip()) > indent):
        end += 1
    return end


def _tap_message(lines: Sequence[str]) -> str:
    for at, line in enumerate(lines):
        message = _YAML_MESSAGE.match(line)
        if message is None:
            continue
        if not _BLOCK.match(message["message"]):
            quoted = message["message"]
            return quoted[1:-1] if quoted[:1] in "'\"" and quoted[-1:] == quoted[:1] else quoted
        deep = len(line) - len(line.lstrip())
        below = lines[at + 1 :]
        stop = next((n for n, text in enumerate(below) if text and len(text) - len(text.lstrip()) <= deep), len(below))
        return summary_line(below[:stop])
    return "" if lines and lines[0].strip() == "---" else summary_line(lines)
