"""JUnit XML, read as its test cases and what came of each.
There is no standard; what is read is what pytest, jest, vitest, node, mypy, PHPUnit, Surefire and linters write."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal
from xml.parsers import expat

from bot.model.reasons import Reason
from bot.rules.failures.log_lines import plain
from bot.rules.reasons import make_reason

_MAX_DEPTH = 100
"""Elements within one another; JUnit needs six, and a bomb any number."""

_TEXT_CHARS = 200_000
"""Characters kept of one failure, as a stack overflow's trace may be longer than all the rest."""

_ILLEGAL = re.compile(
    r"&#(?:0*27|[xX]0*1[bB]);\[[0-?]*[@-~]|[\ufffe\uffff]"
    r"|&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|[xX]0*(?:[0-8bcefBCEF]|1[0-9a-fA-F]));"
)
"""What XML 1.0 can't hold (its 2.2), and some tools write all the same, for instance around colours."""


LINTER_RULE = re.compile(r"org\.(?:eslint\.pkg|ruff|stylelint|biome|oxlint)\.(?P<rule>.+)$")
"""How linters name a case: by the rule, so it is no test."""


@dataclass(slots=True)
class JunitCase:
    """A `testcase`, with the attributes of the suite around it where it has none of its own."""

    name: str
    classname: str
    file: str
    line: int | None
    suite: str
    outcome: Literal["passed", "failed", "skipped"] = "passed"
    failures: list[tuple[str, list[str]]] = field(default_factory=list)  # the message and the pieces of the text


class _Refused(Exception):
    """Ends the parser."""

    def __init__(self, reason: Reason) -> None:
        super().__init__()
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A report that cannot be used, and why."""

    reason: Reason


def read_junit(text: str) -> list[JunitCase] | Unreadable:
    """All cases of a report, in order. Never raises: what is no XML, is no JUnit report, has a document type (entities
    may grow without end) or is nested too deeply is `Unreadable`."""
    reader = _Reader()
    parser = expat.ParserCreate(encoding="utf-8")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse_document_type
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.data
    try:
        parser.Parse(_ILLEGAL.sub("", plain(text)).lstrip().encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        return Unreadable(make_reason("report.no_xml", error=str(error)))
    except _Refused as refused:
        return Unreadable(refused.reason)
    return reader.cases


def _refuse_document_type(*_: object) -> None:
    raise _Refused(make_reason("report.doctype"))


class _Reader:
    """Collects the cases of a document of any size that the parser goes through."""

    def __init__(self) -> None:
        self.cases: list[JunitCase] = []
        self._depth = 0
        self._suites: list[dict[str, str]] = []
        self._case: JunitCase | None = None
        self._kept: int | None = None  # characters kept of the failure that is open

    def start(self, name: str, values: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _Refused(make_reason("report.deep_xml", limit=_MAX_DEPTH))
        if self._depth == 1 and name not in ("testsuites", "testsuite"):
            raise _Refused(make_reason("report.no_junit", element=name[:40]))
        if name == "testsuite":
            self._suites.append(values)
        elif name == "testcase":
            self._case, self._kept = self._begin(values), None
        elif self._case is None:
            return
        elif name in ("failure", "error"):
            self._case.outcome = "failed"
            self._case.failures.append((values.get("message", ""), []))
            self._kept = 0
        elif name == "skipped" and self._case.outcome == "passed":
            self._case.outcome = "skipped"

    def end(self, name: str) -> None:
        self._depth -= 1
        if name == "testsuite" and self._suites:
            self._suites.pop()
        elif name in ("failure", "error"):
            self._kept = None
        elif name == "testcase" and self._case is not None:
            self.cases.append(self._case)
            self._case = self._kept = None

    def data(self, text: str) -> None:
        if self._case is not None and self._kept is not None and self._kept < _TEXT_CHARS:
            self._case.failures[-1][1].append(text[: _TEXT_CHARS - self._kept])
            self._kept += len(text)

    def _begin(self, values: dict[str, str]) -> JunitCase:
        suite = self._suites[-1] if self._suites else {}
        file = values.get("file") or values.get("filepath") or suite.get("file") or suite.get("filepath") or ""
        line = values.get("line") or values.get("lineno") or ""
        return JunitCase(
            name=values.get("name", ""),
            classname=values.get("classname", ""),
            file=file,
            line=int(line) if re.fullmatch(r"[0-9]{1,7}", line) else None,
            suite=suite.get("name", ""),
        )
