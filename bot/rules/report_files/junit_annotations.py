"""JUnit XML read as annotations: one for each test that failed, at the place that its own text names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.model import Annotation, AnnotationLevel
from bot.rules.failures.annotations import MAX_ANNOTATIONS, NO_MESSAGE, find_annotations
from bot.rules.failures.junit import LINTER_RULE, JunitCase
from bot.rules.failures.log import read_log
from bot.rules.failures.places import relative_path

_ROW = re.compile(
    r"line (?P<line>\d{1,7})(?:, col \d+)?, (?:(?P<level>\w+) - )?(?P<message>.+?)(?: \((?P<rule>[^()\s]+)\))?$"
)
_MODULE = re.compile(r"[a-z_]\w*(?:\.[a-z_]\w*)*")


def junit_annotations(
    cases: Iterable[JunitCase], stage: str, tree: str, limit: int = MAX_ANNOTATIONS
) -> tuple[Annotation, ...]:
    """The failures and errors with a place in `tree` (absolute), first come first, each once, at most `limit`.

    Paths are relative with `/`, lines count from 1, titles are the tests' names."""
    found: dict[tuple[str, int, str], Annotation] = {}
    for case in cases:
        for note in _of_case(case, stage, tree):
            found.setdefault((note.path, note.start_line, note.message), note)
            if len(found) >= limit:
                return tuple(found.values())
    return tuple(found.values())


def _of_case(case: JunitCase, stage: str, tree: str) -> list[Annotation]:
    """What a case's failures name: the place in a linter's row, places in the text, else the case's own."""
    rule = LINTER_RULE.match(case.name)
    title = (rule["rule"] if rule else case.name or stage)[:255]
    notes: list[Annotation] = []
    for message, pieces in case.failures:
        text = "".join(pieces).strip()
        rows = [row for row in map(_ROW.match, text.splitlines()) if row is not None]
        path = _own_path(case, tree)
        if rows and path is not None:
            notes.extend(_row(row, path, message, title, rule["rule"] if rule else "") for row in rows)
            continue
        named = _in_text(text, stage, tree) or _in_text(message, stage, tree)
        if named:
            notes.extend(_titled(note, title, message) for note in named)
        elif path is not None:
            notes.append(_whole(case, path, message or text or "failed", title))
    return notes


def _in_text(text: str, stage: str, tree: str) -> tuple[Annotation, ...]:
    return find_annotations(read_log(text, tree), stage)


def _titled(note: Annotation, title: str, message: str) -> Annotation:
    own = message.strip() if note.message == NO_MESSAGE else note.message
    return note.model_copy(update={"title": note.rule or title, "message": own or NO_MESSAGE})


def _row(row: re.Match[str], path: str, message: str, title: str, rule: str) -> Annotation:
    """ESLint's, stylelint's and ruff's `line 3, col 5, Error - what (rule)`, with the file in the case."""
    level: AnnotationLevel = "warning" if (row["level"] or "").lower() == "warning" else "failure"
    line = max(1, int(row["line"]))
    rule = rule or row["rule"] or ""
    message = message.strip() or row["message"].strip()
    return Annotation(path=path, start_line=line, end_line=line, level=level, message=message, title=title, rule=rule)


def _whole(case: JunitCase, path: str, message: str, title: str) -> Annotation:
    # pytest counts this attribute's lines from 0 (its documentation of `Item.location`), everyone else from 1
    line = max(1, (case.line or 0) + (case.suite == "pytest" and case.line is not None))
    return Annotation(path=path, start_line=line, end_line=line, level="failure", message=message.strip(), title=title)


def _own_path(case: JunitCase, tree: str) -> str | None:
    """The file that the case, or its suite's name, is about; of pytest's it is the module's name with slashes."""
    for name in (case.file, case.classname, case.suite):
        if re.search(r"\.[A-Za-z]\w{0,9}$", name) and ("/" in name or "\\" in name or name == case.file):
            return relative_path(name, tree)
    if case.suite == "pytest":
        module = _MODULE.match(case.classname)
        return relative_path(module[0].rstrip(".").replace(".", "/") + ".py", tree) if module else None
    return None
