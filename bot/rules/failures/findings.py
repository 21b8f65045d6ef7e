"""Readers that turn a match of a problem matcher into a finding with its level, message and rule. They read the
lines around a place where they need them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from bot.model import AnnotationLevel
from bot.rules.failures.warning_lines import graded

_MAX_ROWS = 500
NEAR = 60
"""The number of lines that are searched for the message or the file of a place, so that a hostile log takes linear
time."""


Frame = Literal["", "javascript", "vitest", "go", "python", "pytest", "crash", "rust_panic", "rust_backtrace"]
"""The part of a line in a stack: a frame of a language; `crash` is pytest's last frame; `rust_panic` begins a
`rust_backtrace`."""


class Finding(NamedTuple):
    """A place as the tool wrote it; `frame` marks a line of a stack, whose message stands elsewhere."""

    path: str
    line: int
    end_line: int
    level: AnnotationLevel
    message: str
    title: str = ""
    rule: str = ""
    frame: Frame = ""
    test: str = ""  # the failed test in whose part of the log it stands
    whole: bool = False  # no more than a summary: the tool named no line, or it names the place elsewhere


class Here(NamedTuple):
    """Where in the log a line stands; `header` is the last line before it that wasn't indented, `named` the last
    file that had such a line for itself."""

    lines: Sequence[str]
    at: int
    header: str
    named: str = ""

    def below(self) -> str:
        return self.lines[self.at + 1] if self.at + 1 < len(self.lines) else ""


Reader = Callable[["re.Match[str]", Here], Finding | None]


_WARNINGS = frozenset({"warning", "warn", "w", "⚠", "convention", "c", "refactor", "r", "style", "suggestion"})
_NOTICES = frozenset({"note", "n", "notice", "info", "i", "information", "hint", "help"})

LEVEL_WORD = (
    r"(?:fatal\serror|error|err|warning|warn|note|notice|info(?:rmation)?|hint|help|convention|refactor|style"
    r"|suggestion|fatal|ERROR|WARN(?:ING)?)"
)
_LEVEL = re.compile(rf"(?P<level>{LEVEL_WORD})\b(?:\[(?P<rule>[\w:/.@-]{{1,80}})\])?[:\s]?\s*", re.IGNORECASE)
_LETTER = re.compile(r"\[?(?P<level>[EFWCRIN])(?::|\])\s+(?:\[\w+\]\s*)?")
_CODE = re.compile(r"\[?(?P<rule>[A-Z]{1,8}-?\d{2,5})\b\]?:?\s+(?:\[\*\]\s*)?")
_LAST_CODE = re.compile(
    r"\s\s?[\[(](?:(?P<level>Error|Warning)/)?(?P<rule>-?[A-Za-z@][\w@./:=+-]{2,80})[\])](?:\s\[\d\])?$"
)
_PYLINT = re.compile(r"[CRW]\d{4}$")
_WARNED = re.compile(r"[\w.]{0,100}Warning(?=: )")
"""A warning that Python printed, with the place that it is about in front of it."""
_ONLY_ERROR = re.compile(r"[\w.]*(?:Error|Exception|Failed|Exit|Warning|Interrupt)$")
_FILE = re.compile(r"[/\\.]|^(?:Docker|Make|Rake|Gem)file$")
_NAME = re.compile(r"[A-Za-z]")
_IN_FUNCTION = re.compile(r"in \S+$")
_IN_SOMETHING = re.compile(r"(?:at|in) .*:$")
_STYLISH_PARTS = re.compile(r"\s{2,}")
_BELOW = re.compile(r"(?:Fatal )?(?P<level>Error|Warning): (?P<rest>.+)")
_MARKS = re.compile(r"\s+~+$")


def level_of(word: str) -> AnnotationLevel:
    """The annotation level of a tool's word for it; what isn't known is a failure, for the check did fail."""
    word = word.lower().strip()
    return "warning" if word in _WARNINGS else "notice" if word in _NOTICES else "failure"


def _line(text: str | None) -> int:
    return max(1, int(text or 1))


def _finding(match: re.Match[str], message: str, level: str = "", title: str = "", rule: str = "") -> Finding:
    groups = match.groupdict()
    start = _line(groups.get("line"))
    end = max(start, _line(groups.get("end")))
    return Finding(groups.get("path") or "", start, end, level_of(level), message.strip(), title, rule)


def _described(match: re.Match[str], text: str, level: str = "", title: str = "") -> Finding:
    """A finding from a place and what is written beside it: `error TS2322: …`, `W: …`, `F401 …`, `… [code]`."""
    text = text.lstrip(" \t:-–—")
    rule = ""
    for _ in range(2):  # `DL3008 warning: …` as well as `error TS2322: …`
        found = _LEVEL.match(text) or _LETTER.match(text)
        if found is not None:
            level, rule = found["level"], found.groupdict().get("rule") or rule
            text = text[found.end() :]
        code = _CODE.match(text)
        if code is not None:
            rule, text = code["rule"], text[code.end() :]
    warned = _WARNED.match(text) if not level else None
    if warned is not None:
        return _finding(match, text, "warning", title, warned[0])
    last = _LAST_CODE.search(text) if not rule else None
    if last is not None:
        rule, level, text = last["rule"], last["level"] or level, text[: last.start()]
    if not level and _PYLINT.match(rule):
        level = "warning"  # conventions, refactorings and warnings (pylint's documentation, Messages overview)
    return _finding(match, text or title or "problem", level, title, rule)


def read_colon(match: re.Match[str], here: Here) -> Finding | None:
    """`path:line[:col]` and what follows, the shape that most tools share."""
    path, rest = match["path"], match["rest"].strip()
    if here.lines[here.at][:1] == " " and heads_rows(here.lines, here.at):
        return None
    if "://" in path.replace("file://", "") or not _FILE.search(path) or not _NAME.search(path):
        return None
    text = rest.lstrip(":- ")
    if _IN_FUNCTION.match(text):
        return _framed(match, "python")
    if not text:
        return _framed(match, "pytest") if path.endswith(".py") else _bare(match, here)
    if _ONLY_ERROR.match(text):
        return _finding(match, _pytest_message(here) or text, title=text)._replace(frame="crash")
    if _IN_SOMETHING.match(text):  # pydocstyle writes the message below
        return _described(match, here.below() or text)
    return read_described(match, here)


def _framed(match: re.Match[str], frame: Frame) -> Finding:
    line = _line(match["line"])
    return Finding(match["path"], line, line, "failure", "", frame=frame)


def _bare(match: re.Match[str], here: Here) -> Finding:
    """A place alone on its line: gfortran writes what is wrong below, tsc what is related to the error above."""
    below = here.lines[here.at + 1 : here.at + 7]
    for at, line in enumerate(below):
        found = _BELOW.match(line) if match[0].endswith(":") else None
        if found is not None:
            return _finding(match, found["rest"], found["level"])
        if _MARKS.match(line) and at + 1 < len(below):
            return _finding(match, below[at + 1], "note")
    return _framed(match, "javascript")


def _pytest_message(here: Here) -> str:
    """The `E` lines above a failure's place: the message, then perhaps the values."""
    last = here.at - 1
    while last >= max(0, here.at - 2) and not here.lines[last]:
        last -= 1
    first = last
    while first >= max(0, here.at - NEAR) and (here.lines[first].startswith("E  ") or here.lines[first] == "E"):
        first -= 1
    texts = (line[1:].strip() for line in here.lines[first + 1 : last + 1])
    return "\n".join([line for line in texts if line][:6])


def read_described(match: re.Match[str], here: Here) -> Finding | None:
    return _described(match, match["rest"], match.groupdict().get("level") or "")


def read_arrow(match: re.Match[str], here: Here) -> Finding | None:
    """rustc, ruff, ty, oxlint: the message stands in the line before the arrow."""
    above = next((text for text in reversed(here.lines[max(0, here.at - 3) : here.at]) if text), "")
    return _described(match, above.strip(" ×✖⚠!"), "warning" if "⚠" in above else "")


def read_row(match: re.Match[str], here: Here) -> Finding | None:
    """eslint's stylish and its like: the file heads the list."""
    path = _headed(here.header) or here.named
    if not path:
        return None
    parts = _STYLISH_PARTS.split(match["rest"].strip())
    rule = next((part for part in parts[1:] if re.fullmatch(r"[\w@./-]+", part)), "")
    if match["level"] is None:
        return _described(match, match["rest"])._replace(path=path)
    line = _line(match["line"])
    return Finding(path, line, line, level_of(match["level"]), parts[0].strip(), rule=rule)


_PLACED_HEAD = re.compile(r"\s{1,4}(?P<path>[^\s:]{1,400}\.\w{1,10}):\d{1,7}:\d{1,7}$")
_MARKED_ROW = re.compile(r"\s+[✖⚠×ℹ]\s+\d{1,7}:\d{1,7}\s")


def heads_rows(lines: Sequence[str], at: int) -> str:
    """The file that a line of `eslint-formatter-pretty` names for the marked rows below it; empty for another line."""
    head = _PLACED_HEAD.match(lines[at])
    below = lines[at + 1] if at + 1 < len(lines) else ""
    return head["path"] if head is not None and _MARKED_ROW.match(below) else ""


def read_marked_row(match: re.Match[str], here: Here) -> Finding | None:
    """xo's rows and others' of `eslint-formatter-pretty`: a mark, a place, what is wrong and the rule."""
    for at in range(here.at - 1, max(-1, here.at - _MAX_ROWS), -1):
        if path := heads_rows(here.lines, at):
            parts = _STYLISH_PARTS.split(match["rest"].strip())
            line, level = _line(match["line"]), {"⚠": "warning", "ℹ": "info"}.get(match["mark"], "error")
            return Finding(path, line, line, level_of(level), parts[0], rule=parts[-1] if len(parts) > 1 else "")
    return None


def _headed(header: str) -> str | None:
    """The file that a header names: alone, as `FILE: path`, as `path:` or `path -- 2 warnings:`."""
    name = re.sub(r"^FILE: | -- \d+ warnings?:$|:$", "", header).strip()
    return name if re.search(r"[/\\.]", name) and not re.search(r"[\"'<>|]", name) else None


def read_listed(match: re.Match[str], here: Here) -> Finding | None:
    """sqlfluff, RuboCop, djLint: rows that aren't indented below a file's name."""
    if not here.named:
        return None
    finding = _described(match, match["rest"], match.groupdict().get("level") or "")
    return finding._replace(path=here.named, rule=match.groupdict().get("rule") or finding.rule)


def read_marked(match: re.Match[str], here: Here) -> Finding | None:
    """ShellCheck's marks below a line of code, with the place above it."""
    for line in reversed(here.lines[max(0, here.at - NEAR) : here.at]):
        place = re.match(r"In (?P<path>.{1,400}) line (?P<line>\d{1,7}):$", line)
        if place is not None:
            return _finding(place, match["rest"], match["level"])._replace(rule=match["rule"])
    return None


def read_headline(match: re.Match[str], here: Here) -> Finding | None:
    """CMake and minitest name the place in a headline and say below what is wrong there."""
    level = match.groupdict().get("level") or ""
    return _finding(match, here.below() or match[0], level, match.groupdict().get("title") or "")


def read_frame(match: re.Match[str], here: Here) -> Finding | None:
    if re.match(r"\s*\d+: ", here.lines[here.at - 1]):
        return _framed(match, "rust_backtrace")
    return _framed(match, "javascript")


def frame_reader(frame: Frame) -> Reader:
    return lambda match, here: _framed(match, frame)


def read_rust_panic(match: re.Match[str], here: Here) -> Finding | None:
    message = match["message"] or here.below()
    return _finding(match, message or "panicked", title=match["thread"] or "")._replace(frame="rust_panic")


def read_workflow_command(match: re.Match[str], here: Here) -> Finding | None:
    """GitHub's `::error file=…,line=…::message` (its documentation of workflow commands)."""
    values = dict(part.split("=", 1) for part in match["values"].strip().split(",") if "=" in part)
    if not values.get("file"):
        return None
    start = _line(values["line"]) if values.get("line", "").isdigit() else 1
    end = _line(values["endLine"]) if values.get("endLine", "").isdigit() else start
    title = values.get("title", "")
    return Finding(values["file"], start, max(start, end), level_of(match["level"]), match["rest"].strip(), title)


def read_whole_file(match: re.Match[str], here: Here) -> Finding | None:
    default = "the tests in this file failed" if match[0].startswith(("FAILED", "ERROR", "rspec")) else "not formatted"
    return _finding(match, match.groupdict().get("rest") or default)._replace(whole=True)


def read_format(match: re.Match[str], here: Here) -> Finding | None:
    return _finding(match, "not formatted")


_ELSEWHERE = ("test at ", "location: ", "::: ")
"""Where node's test runner names where a failed test begins, and compilers show more code: the place itself stands
in lines of its own."""


def read_anywhere(match: re.Match[str], here: Here) -> Finding | None:
    line = here.lines[here.at].strip()
    if heads_rows(here.lines, here.at):
        return None
    before = match["before"][-300:]
    if line.startswith(_ELSEWHERE) or "://" in before + match["path"] or before.endswith("node:"):
        return None
    return _finding(match, line, "error" if graded(line) == "error" else "warning")
