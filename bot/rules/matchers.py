"""The problem matchers: a literal table of the shapes in which tools write a place and what is wrong there.
The first row that fits a line decides; what a row needs from the lines around it, it reads from there."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from bot.model import AnnotationLevel

_NEAR = 60
"""Lines looked at for the message or the file that belongs to a place; keeps a hostile log linear."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A place as the tool wrote it; `frame` marks a line of a stack, whose message stands elsewhere."""

    path: str
    line: int
    end_line: int
    level: AnnotationLevel
    message: str
    title: str = ""
    rule: str = ""
    frame: Literal["", "javascript", "python"] = ""
    whole: bool = False  # the tool named no line


@dataclass(frozen=True, slots=True)
class Here:
    """Where in the log a line stands; `header` is the last line before it that wasn't indented."""

    lines: Sequence[str]
    index: int
    header: str

    def below(self) -> str:
        return self.lines[self.index + 1] if self.index + 1 < len(self.lines) else ""


Reader = Callable[["re.Match[str]", Here], Finding | None]

_PLACE_HINT = re.compile(r"[:(\[](?<![\d\s].)\d|[:(\[](?<=\.[A-Za-z]\d.)\d|: \(\d")
_START_HINT = re.compile(r"\s+(?:\d+(?::\d| \|)|\[\d)|FAILED |ERROR|[Ww]ould reformat|\[warn\] ")


def hints_at_place(line: str) -> bool:
    """Whether a line may name a place: a quick look that lets most of a log pass at little cost."""
    return bool(
        _PLACE_HINT.search(line)
        or _START_HINT.match(line)
        or " line " in line
        or "panicked at" in line
        or line.startswith("::")
    )


_WARNINGS = frozenset({"warning", "warn", "w", "⚠", "convention", "c", "refactor", "r", "style", "suggestion"})
_NOTICES = frozenset({"note", "n", "notice", "info", "i", "information", "hint", "help"})

_WORD = (
    r"(?:fatal\serror|error|err|warning|warn|note|notice|info(?:rmation)?|hint|help|convention|refactor|style"
    r"|suggestion|fatal|ERROR|WARN(?:ING)?)"
)
_LEVEL = re.compile(rf"(?P<level>{_WORD})\b(?:\[(?P<rule>[\w:/.@-]{{1,80}})\])?[:\s]?\s*", re.IGNORECASE)
_LETTER = re.compile(r"\[?(?P<level>[EFWCRIN])(?::|\])\s+(?:\[\w+\]\s*)?")
_CODE = re.compile(r"\[?(?P<rule>[A-Z]{1,8}-?\d{2,5})\b\]?:?\s+(?:\[\*\]\s*)?")
_LAST_CODE = re.compile(r"\s\s?[\[(](?P<rule>[A-Za-z@][\w@./:-]{2,80})[\])]$")
_ONLY_ERROR = re.compile(r"[\w.]*(?:Error|Exception|Failed|Exit|Warning|Interrupt)$")
_SAID = re.compile(r"^\s*(?:E\s+|Uncaught\s)?[\w.]*(?:Error|Exception|Failure|Exit|Interrupt)\b(?:\s\[\w+\])?(?::|$)")
_STYLISH_PARTS = re.compile(r"\s{2,}")

_PATH = r"(?P<path>(?:[A-Za-z]:(?=[\\/])|file://)?[^\s:()\[\]\"'<>|,;=*]{1,400})"
_PLACE = r":(?P<line>\d{1,7})(?::\d{1,7})?(?:[-:](?P<end>\d{1,7})(?::\d{1,7})?)?"

_ANYWHERE = r"(?<![\w./\\@+~-])(?P<path>[\w./\\@+~-]{1,300}\.[A-Za-z]\w{0,9})"


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
    return Finding(groups["path"], start, end, level_of(level), message.strip(), title, rule)


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
    last = _LAST_CODE.search(text) if not rule else None
    if last is not None:
        rule, text = last["rule"], text[: last.start()]
    return _finding(match, text or title or "problem", level, title, rule)


def _colon(match: re.Match[str], here: Here) -> Finding | None:
    """`path:line[:col]` and what follows, the shape that most tools share."""
    path, rest = match["path"], match["rest"].strip()
    if "://" in path.replace("file://", "") or not re.search(r"[/\\.]|^(?:Docker|Make|Rake|Gem)file$", path):
        return None
    if not re.search(r"[A-Za-z]", path) or re.fullmatch(r"[\d.]+|localhost", path):
        return None
    said = rest.lstrip(":- ")
    if re.match(r"in \S+$", said):
        return Finding(path, _line(match["line"]), _line(match["line"]), "failure", "", frame="python")
    if not said:
        language: Literal["javascript", "python"] = "python" if path.endswith(".py") else "javascript"
        return Finding(path, _line(match["line"]), _line(match["line"]), "failure", "", frame=language)
    if _ONLY_ERROR.match(said):
        return _finding(match, _pytest_message(here) or said, title=said)
    if re.match(r"(?:at|in) .*:$", said):  # pydocstyle writes the message below
        return _described(match, here.below() or said)
    return _described(match, rest, match["level"] or "")


def _pytest_message(here: Here) -> str:
    """The `E` lines that stand above a failure's place; the first says it, the next ones may show the values."""
    last = here.index - 1
    while last >= max(0, here.index - 2) and not here.lines[last]:
        last -= 1
    first = last
    while first >= max(0, here.index - _NEAR) and here.lines[first].startswith("E  "):
        first -= 1
    return "\n".join(line[1:].strip() for line in here.lines[first + 1 : last + 1][:6])


def _paren(match: re.Match[str], here: Here) -> Finding | None:
    return _described(match, match["rest"])


def _arrow(match: re.Match[str], here: Here) -> Finding | None:
    """rustc, ruff, ty, oxlint: the message stands in the line before the arrow."""
    above = next((text for text in reversed(here.lines[max(0, here.index - 3) : here.index]) if text), "")
    return _described(match, above.strip(" ×✖⚠!"), "warning" if "⚠" in above else "")


def _row(match: re.Match[str], here: Here) -> Finding | None:
    """eslint's stylish and its like: the file heads the list."""
    path = _headed(here.header)
    if path is None:
        return None
    parts = _STYLISH_PARTS.split(match["rest"].strip())
    rule = next((part for part in parts[1:] if re.fullmatch(r"[\w@./-]+", part)), "")
    line = _line(match["line"])
    return Finding(path, line, line, level_of(match["level"]), parts[0].strip(), rule=rule)


def _headed(header: str) -> str | None:
    """The file that a header names: alone, as `FILE: path`, as `path:` or `path -- 2 warnings:`."""
    name = re.sub(r"^FILE: | -- \d+ warnings?:$|:$", "", header).strip()
    return name if re.search(r"[/\\.]", name) and not re.search(r"[\"'<>|]", name) else None


def _compact(match: re.Match[str], here: Here) -> Finding | None:
    return _described(match, match["rest"], match["level"])


def _frame(match: re.Match[str], here: Here) -> Finding | None:
    line = _line(match["line"])
    language: Literal["javascript", "python"] = "python" if "File" in match[0][:40] else "javascript"
    return Finding(match["path"], line, line, "failure", "", frame=language)


def _panic(match: re.Match[str], here: Here) -> Finding | None:
    said = match["said"] or here.below()
    return _finding(match, said or "panicked", title=match["thread"] or "")


def _workflow_command(match: re.Match[str], here: Here) -> Finding | None:
    """GitHub's `::error file=…,line=…::message` (its documentation of workflow commands)."""
    values = dict(part.split("=", 1) for part in match["values"].strip().split(",") if "=" in part)
    if not values.get("file"):
        return None
    start = _line(values["line"]) if values.get("line", "").isdigit() else 1
    end = _line(values["endLine"]) if values.get("endLine", "").isdigit() else start
    title = values.get("title", "")
    return Finding(values["file"], start, max(start, end), level_of(match["level"]), match["rest"].strip(), title)


def _whole_file(match: re.Match[str], here: Here) -> Finding | None:
    default = "the tests in this file failed" if match[0].startswith(("FAILED", "ERROR")) else "not formatted"
    rest = match.groupdict().get("rest") or default
    return Finding(match["path"], 1, 1, "failure", rest, whole=True)


def _anywhere(match: re.Match[str], here: Here) -> Finding | None:
    line = here.lines[here.index].strip()
    if line.startswith("test at ") or "://" in match["before"][-300:] + match["path"]:
        return None  # node's test runner heads each failure so; the failure's own stack follows
    return _finding(match, line)


# (a text that the line must hold, asked first because it is cheap; the shape; what reads it)
MATCHERS: tuple[tuple[str, re.Pattern[str], Reader], ...] = tuple(
    (guard, re.compile(pattern), reader)
    for guard, pattern, reader in (
        ("::", r"^::(?P<level>error|warning|notice)(?P<values>(?:\s[^\n]*?)?)::(?P<rest>.*)", _workflow_command),
        ("-->", rf"^\s*-->\s*{_PATH}{_PLACE}", _arrow),
        ("─[", rf"^\s*[╭┌]─+\[\s?{_PATH}{_PLACE}", _arrow),
        ("┌─ ", rf"^\s*┌─ {_PATH}{_PLACE}", _arrow),
        (" ", r"^\s+(?P<line>\d{1,7}):\d{1,7}(?:-\d+:\d+)?\s+(?P<level>error|warning|info|[✖⚠×])\s+(?P<rest>.+)", _row),
        ("]:", r"^\s+\[(?P<line>\d{1,7})(?:, \d+)*\]:(?P<level>)(?P<rest>.+)", _row),
        (" | ", r"^\s*(?P<line>\d{1,7}) \| (?P<level>ERROR|WARNING)\s*\|\s*(?:\[.\])?(?P<rest>.+)", _row),
        (
            ": line ",
            r"^(?P<path>[^\n]{1,400}?): line (?P<line>\d{1,7}), col \d+, (?P<level>\w+) - (?P<rest>.+)",
            _compact,
        ),
        (" on line ", rf"^{_PATH} - (?P<level>ERROR|WARNING): (?P<rest>.+) on line (?P<line>\d{{1,7}})", _compact),
        (
            " on line ",
            rf"^(?:PHP )?(?P<level>\w+(?: \w+)?): +(?P<rest>.+) in {_PATH} on line (?P<line>\d{{1,7}})",
            _compact,
        ),
        ('File "', r"^\s*(?:E\s+)?File \"(?P<path>[^\"]{1,400})\", line (?P<line>\d{1,7})", _frame),
        ("at ", rf"^\s*at (?:[^(\n]{{0,300}}\()?{_PATH}:(?P<line>\d{{1,7}})(?::\d+)?\)?$", _frame),
        ("❯ ", rf"^\s*❯ (?:[^\s]{{1,200}} )?{_PATH}:(?P<line>\d{{1,7}}):\d+$", _frame),
        (
            "panicked at ",
            rf"^(?:thread '(?P<thread>[^']{{0,200}})' (?:\(\d+\) )?)?panicked at (?P<said>){_PATH}{_PLACE}:?$",
            _panic,
        ),
        (
            "panicked at '",
            rf"^(?:thread '(?P<thread>[^']{{0,200}})' )?panicked at '(?P<said>.*)', {_PATH}{_PLACE}$",
            _panic,
        ),
        (
            "(",
            r"^\s*(?:\[\w+\]\s+)?(?P<path>[^\s(:][^(\n]{0,400}?)(?<=\S)"
            r"\((?P<line>\d{1,7})(?:,\s?\d+)?(?:,(?P<end>\d{1,7}),\d+)?\)\s?:(?P<rest>.+)",
            _paren,
        ),
        ("[", rf"^\[{_PATH}{_PLACE}\] (?P<rest>.+)", _paren),
        (": (", rf"^[ew]: {_PATH}: \((?P<line>\d{{1,7}}), \d+\): (?P<rest>.+)", _paren),
        (
            ":",
            rf"^\s*(?:vet: |[-*✖×>] |#\d+ |rspec |# |\[?(?P<level>{_WORD}|[ew])\]?:?\s+|)"
            rf"{_PATH}{_PLACE}(?P<rest>(?:[:\s,].*)?)$",
            _colon,
        ),
        ("", r"^(?:FAILED|ERROR) (?P<path>[^\s:]{1,400}\.py)(?:::\S+)?(?: - (?P<rest>.*))?$", _whole_file),
        ("ould reformat", r"^[Ww]ould reformat:? (?P<path>\S{1,400})$", _whole_file),
        ("[warn]", r"^\[warn\] (?P<path>\S{1,400}\.\w+)$", _whole_file),
        ("ERROR: ", r"^ERROR: (?P<path>\S{1,400}\.pyi?) (?P<rest>Imports are .*)", _whole_file),
        (".", rf"^(?P<before>.*?){_ANYWHERE}:(?P<line>\d{{1,7}}):\d+", _anywhere),
    )
)


def frame_message(lines: Sequence[str], index: int, language: str) -> tuple[str, str]:
    """(message, title) of the error whose stack has a frame at `index`; Python says it below, JavaScript above."""
    if language == "python":
        below = lines[index + 1 : index + _NEAR]
        said = next((text for text in below if _SAID.match(text) or text.startswith("E  ")), "")
        return re.sub(r"^E\s+", "", said).strip(), ""
    nearest = ""
    for at in range(index - 1, max(-1, index - _NEAR), -1):
        text = lines[at].strip()
        if text.startswith("● "):
            title = text[2:]
            return next((line.strip() for line in lines[at + 1 : index] if line), title), title
        if _SAID.match(text):
            more = next((line.strip() for line in lines[at + 1 : index] if line), "") if text.endswith(":") else ""
            return f"{text} {more}".strip(), ""
        if text and not nearest and not text.startswith(("at ", "❯ ", "|")):
            nearest = text
    return nearest, ""
