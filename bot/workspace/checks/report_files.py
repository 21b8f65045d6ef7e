"""Parses report files that checks write, JUnit XML or SARIF, as untrusted files (T33).

Only a report that this run wrote counts: an older one is about another state of the worktree."""

from __future__ import annotations

import codecs
import errno
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bot.errors import Refused
from bot.model import Annotation
from bot.reports.format.truncate import cut_middle, strip_control
from bot.rules.failures.annotations import MAX_ANNOTATIONS, NO_MESSAGE
from bot.rules.failures.junit import Unreadable, read_junit
from bot.rules.reasons import make_reason, quoted
from bot.rules.report_files.junit_annotations import junit_annotations
from bot.rules.report_files.sarif import sarif_annotations
from bot.rules.test_results.listed_tests import junit_tests
from bot.rules.test_results.suite_result import SuiteResult
from bot.workspace.files.nofollow import read_state

MAX_REPORT_BYTES = 20_000_000
_MESSAGE_CHARS = 4_000

Stamp = tuple[int, ...]
"""Distinguishes two writes of a file; the writer cannot set the time of its last change (ctime)."""


@dataclass(frozen=True, slots=True)
class ParsedReport:
    """The annotations of a report, and the tests that ran, which only JUnit XML names."""

    annotations: tuple[Annotation, ...]
    tests: SuiteResult


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A report that a command should write at `path` below `tree`, and the stamp of the previous file there."""

    tree: Path
    path: str
    before: Stamp | None

    @classmethod
    def before_the_run(cls, tree: Path, path: str | None) -> ReportFile | None:
        """Takes the stamp, before the command runs; None if the command writes no report."""
        return None if path is None else cls(tree, path, _stamp(tree, path))

    def parse(self, stage: str, mask: Callable[[str], str]) -> ParsedReport | Unreadable:
        """The report of this run, without secrets and control characters.

        `Unreadable` for a bad path, a missing or old file, a link or a pipe, more than 20 MB, or broken content. Never
        blocks and never follows a link."""
        text = self._text()
        if isinstance(text, Unreadable):
            return text
        # before it is parsed too, for messages may be cut out of the middle of a secret
        text = mask(text)
        tree, tests = str(self.tree), SuiteResult()
        if text.lstrip().startswith("<"):
            cases = read_junit(text)
            if isinstance(cases, Unreadable):
                return cases
            found, tests = junit_annotations(cases, stage, tree, MAX_ANNOTATIONS), junit_tests(cases)
        else:
            results = sarif_annotations(text, stage, tree, MAX_ANNOTATIONS)
            if isinstance(results, Unreadable):
                return results
            found = results
        return ParsedReport(tuple(_shown(note, mask) for note in found), tests)

    def _text(self) -> str | Unreadable:
        if not _is_inside(self.path):
            return Unreadable(make_reason("report.bad_path"))
        after = _stamp(self.tree, self.path)
        if after is None:
            return Unreadable(make_reason("report.missing"))
        if after == self.before:
            return Unreadable(make_reason("report.old"))
        try:
            state = read_state(self.tree, str(PurePosixPath(self.path)), limit=MAX_REPORT_BYTES)
        except Refused:
            return Unreadable(make_reason("report.link"))
        except OSError as error:
            if error.errno == errno.EFBIG:
                return Unreadable(make_reason("report.too_large", limit=f"{MAX_REPORT_BYTES:,}"))
            return Unreadable(quoted(error.strerror or str(error)))
        if state is None:
            return Unreadable(make_reason("report.missing"))
        return _decoded(state.content)


def _is_inside(path: str) -> bool:
    """Whether a path can name a report in the repository."""
    parts = PurePosixPath(path).parts
    bad = not path.strip() or "\0" in path or path.startswith("/") or ".." in parts or ".git" in parts
    return bool(parts) and not bad


def _stamp(tree: Path, path: str) -> Stamp | None:
    """The file's stamp, without opening it. Its parents may be links, but a stamp reveals nothing."""
    try:
        status = os.lstat(tree / path)
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _decoded(content: bytes) -> str:
    """The text as UTF-8, or UTF-16 by its byte order mark; other encodings keep at least their paths."""
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if wide else "utf-8-sig", "replace")


def _shown(note: Annotation, mask: Callable[[str], str]) -> Annotation:
    texts = {
        "message": cut_middle(mask(strip_control(note.message)), _MESSAGE_CHARS).strip() or NO_MESSAGE,
        "title": mask(strip_control(note.title)),
        "rule": mask(strip_control(note.rule)),
    }
    return note.model_copy(update=texts)
