"""JUnit XML read as annotations: one for each test that failed, at the place that its own text names.
There is no standard; what is read is what pytest, jest, vitest, node, mypy, PHPUnit, Surefire and linters write."""

# `from __future__ import annotations` would take the name of the function that other modules know
import re
from dataclasses import dataclass, field
from typing import Protocol
from xml.parsers import expat

from bot.model import Annotation, AnnotationLevel
from bot.rules.failures.annotations import MOST, NO_MESSAGE, Unreadable, annotations, relative_path
from bot.rules.failures.log_lines import plain

_DEEPEST = 100
"""Elements within one another; JUnit needs six, and a bomb any number."""

_TEXT_CHARS = 200_000
"""Characters kept of one failure, as a stack overflow's trace may be longer than all the rest."""

_ILLEGAL = re.compile(
    r"&#(?:0*27|[xX]0*1[bB]);\[[0-?]*[@-~]|[\ufffe\uffff]"
    r"|&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|[xX]0*(?:[0-8bcefBCEF]|1[0-9a-fA-F]));"
)
"""What XML 1.0 can't hold (its 2.2), and some tools write all the same, for instance around colours."""

_ROW = re.compile(
    r"line (?P<line>\d{1,7})(?:, col \d+)?, (?:(?P<level>\w+) - )?(?P<said>.+?)(?: \((?P<rule>[^()\s]+)\))?$"
)
_RULE = re.compile(r"org\.(?:eslint\.pkg|ruff|stylelint|biome|oxlint)\.(?P<rule>.+)$")
_MODULE = re.compile(r"[a-z_]\w*(?:\.[a-z_]\w*)*")


@dataclass(slots=True)
class _Case:
    """A `testcase` while it is read, with the attributes of the suite around it where it has none of its own."""

    name: str
    classname: str
    file: str
    line: int | None
    suite: str
    failures: list[tuple[str, list[str]]] = field(default_factory=list)  # the message and the pieces of the text


class _Refused(Exception):
    """Ends the parser; its text says why."""


def junit_annotations(text: str, stage: str, tree: str, limit: int = MOST) -> tuple[Annotation, ...] | Unreadable:
    """The failures and errors with a place in `tree` (absolute), first come first, each once, at most `limit`.

    Paths are relative with `/`, lines count from 1, titles are the tests' names. Never raises: what is no XML, is no
    JUnit report, has a document type (entities may grow without end) or is nested too deeply is `Unreadable`."""
    read = _read(text)
    if isinstance(read, Unreadable):
        return read
    found: dict[tuple[str, int, str], Annotation] = {}
    for case in read:
        for note in _of_case(case, stage, tree):
            found.setdefault((note.path, note.start_line, note.message), note)
            if len(found) >= limit:
                return tuple(found.values())
    return tuple(found.values())


def failed_cases(text: str) -> tuple[tuple[str, str], ...]:
    """(name, what is wrong) of each case that failed, with its class before its name; empty for what can't be read."""
    read = _read(text)
    if isinstance(read, Unreadable):
        return ()
    return tuple((_full_name(case), _said(case)) for case in read if case.name and not _RULE.match(case.name))


def _full_name(case: _Case) -> str:
    where = case.classname or case.file
    return case.name if not where or case.name.startswith(where) else f"{where} › {case.name}"


def _said(case: _Case) -> str:
    message, pieces = case.failures[0]
    return message.strip() or "".join(pieces).strip()


def _read(text: str) -> list[_Case] | Unreadable:
    """The cases that failed, or why the text is no report."""
    reader = _Reader()
    problem = read_junit(text, reader)
    return reader.failed if problem is None else problem


class Reader(Protocol):
    """Is given the elements of a report in their order."""

    def start(self, name: str, values: dict[str, str]) -> None: ...

    def end(self, name: str) -> None: ...

    def data(self, text: str) -> None: ...


def read_junit(text: str, reader: Reader) -> Unreadable | None:
    """Give the reader all elements of a JUnit report; why that was not possible, else None. Never raises."""
    guard = _Guard(reader)
    parser = expat.ParserCreate(encoding="utf-8")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_document_type
    parser.StartElementHandler = guard.start
    parser.EndElementHandler = guard.end
    parser.CharacterDataHandler = reader.data
    try:
        parser.Parse(_ILLEGAL.sub("", plain(text)).lstrip().encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        return Unreadable(f"it is no complete XML: {error}")
    except _Refused as refused:
        return Unreadable(str(refused))
    return None


def _refuse_document_type(*_: object) -> None:
    raise _Refused("it declares a document type, which no report needs; write it without `<!DOCTYPE …>`")


class _Guard:
    """Lets only a report of sound depth through to its reader."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._depth = 0

    def start(self, name: str, values: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _Refused(f"its elements are nested more than {_DEEPEST} deep")
        if self._depth == 1 and name not in ("testsuites", "testsuite"):
            raise _Refused(f"it is XML, but no JUnit report: it begins with `<{name[:40]}>`, not `<testsuites>`")
        self._reader.start(name, values)

    def end(self, name: str) -> None:
        self._depth -= 1
        self._reader.end(name)


class _Reader:
    """Collects the failed cases of a document of any size that the parser goes through."""

    def __init__(self) -> None:
        self.failed: list[_Case] = []
        self._suites: list[dict[str, str]] = []
        self._case: _Case | None = None
        self._kept: int | None = None  # characters kept of the failure that is open

    def start(self, name: str, values: dict[str, str]) -> None:
        if name == "testsuite":
            self._suites.append(values)
        elif name == "testcase":
            self._case, self._kept = self._begin(values), None
        elif name in ("failure", "error") and self._case is not None:
            self._case.failures.append((values.get("message", ""), []))
            self._kept = 0

    def end(self, name: str) -> None:
        if name == "testsuite" and self._suites:
            self._suites.pop()
        elif name in ("failure", "error"):
            self._kept = None
        elif name == "testcase" and self._case is not None:
            if self._case.failures:
                self.failed.append(self._case)
            self._case = self._kept = None

    def data(self, text: str) -> None:
        if self._case is not None and self._kept is not None and self._kept < _TEXT_CHARS:
            self._case.failures[-1][1].append(text[: _TEXT_CHARS - self._kept])
            self._kept += len(text)

    def _begin(self, values: dict[str, str]) -> _Case:
        suite = self._suites[-1] if self._suites else {}
        file = values.get("file") or values.get("filepath") or suite.get("file") or suite.get("filepath") or ""
        line = values.get("line") or values.get("lineno") or ""
        return _Case(
            name=values.get("name", ""),
            classname=values.get("classname", ""),
            file=file,
            line=int(line) if re.fullmatch(r"[0-9]{1,7}", line) else None,
            suite=suite.get("name", ""),
        )


def _of_case(case: _Case, stage: str, tree: str) -> list[Annotation]:
    """What a case's failures name: the place in a linter's row, places in the text, else the case's own."""
    rule = _RULE.match(case.name)
    title = (rule["rule"] if rule else case.name or stage)[:255]
    notes: list[Annotation] = []
    for message, pieces in case.failures:
        text = "".join(pieces).strip()
        rows = [row for row in map(_ROW.match, text.splitlines()) if row is not None]
        path = _own_path(case, tree)
        if rows and path is not None:
            notes.extend(_row(row, path, message, title, rule["rule"] if rule else "") for row in rows)
            continue
        named = annotations(text, stage, tree) or annotations(message, stage, tree)
        if named:
            notes.extend(_titled(note, title, message) for note in named)
        elif path is not None:
            notes.append(_whole(case, path, message or text or "failed", title))
    return notes


def _titled(note: Annotation, title: str, message: str) -> Annotation:
    said = message.strip() if note.message == NO_MESSAGE else note.message
    return note.model_copy(update={"title": note.rule or title, "message": said or NO_MESSAGE})


def _row(row: re.Match[str], path: str, message: str, title: str, rule: str) -> Annotation:
    """ESLint's, stylelint's and ruff's `line 3, col 5, Error - what (rule)`, with the file in the case."""
    level: AnnotationLevel = "warning" if (row["level"] or "").lower() == "warning" else "failure"
    line = max(1, int(row["line"]))
    rule = rule or row["rule"] or ""
    said = message.strip() or row["said"].strip()
    return Annotation(path=path, start_line=line, end_line=line, level=level, message=said, title=title, rule=rule)


def _whole(case: _Case, path: str, said: str, title: str) -> Annotation:
    # pytest counts this attribute's lines from 0 (its documentation of `Item.location`), everyone else from 1
    line = max(1, (case.line or 0) + (case.suite == "pytest" and case.line is not None))
    return Annotation(path=path, start_line=line, end_line=line, level="failure", message=said.strip(), title=title)


def _own_path(case: _Case, tree: str) -> str | None:
    """The file that the case, or its suite's name, is about; of pytest's it is the module's name with slashes."""
    for name in (case.file, case.classname, case.suite):
        if re.search(r"\.[A-Za-z]\w{0,9}$", name) and ("/" in name or "\\" in name or name == case.file):
            return relative_path(name, tree)
    if case.suite == "pytest":
        module = _MODULE.match(case.classname)
        return relative_path(module[0].rstrip(".").replace(".", "/") + ".py", tree) if module else None
    return None
