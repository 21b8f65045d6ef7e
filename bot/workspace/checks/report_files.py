"""Report files that checks write, JUnit XML or SARIF, read as the untrusted files that they are (T33).
Only what this very run wrote counts: yesterday's report is not about today's tree."""

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
from bot.rules.report_files.junit_annotations import junit_annotations
from bot.rules.report_files.sarif import sarif_annotations
from bot.rules.test_results.listed_tests import junit_tests
from bot.rules.test_results.suite_result import SuiteResult
from bot.workspace.files.nofollow import read_state

MAX_REPORT_BYTES = 20_000_000
_MESSAGE_CHARS = 4_000

Stamp = tuple[int, ...]
"""What distinguishes one writing of a file from another; the time of its last change can't be set by who writes it."""


@dataclass(frozen=True, slots=True)
class ParsedReport:
    """What a report names: places, and the tests that ran; those of JUnit XML alone."""

    annotations: tuple[Annotation, ...]
    tests: SuiteResult


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A report that a command is to write at `path` below `tree`, and the stamp of what stood there before it ran."""

    tree: Path
    path: str
    before: Stamp | None

    @classmethod
    def before_the_run(cls, tree: Path, path: str | None) -> ReportFile | None:
        """To be called before the command runs; None where it writes no report."""
        return None if path is None else cls(tree, path, _stamp(tree, path))

    def parse(self, stage: str, mask: Callable[[str], str]) -> ParsedReport | Unreadable:
        """What the run wrote, without secrets and control characters.

        `Unreadable` has the reason why there are none: a bad path, no file, an old one, a link or a pipe in its place,
        more than 20 MB, broken content. Never blocks and never follows a link."""
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
        problem = _problem_with(self.path)
        if problem:
            return Unreadable(problem)
        after = _stamp(self.tree, self.path)
        if after is None:
            return Unreadable("the check wrote no such file")
        if after == self.before:
            return Unreadable("it is an old one, which this run of the check did not write")
        try:
            state = read_state(self.tree, str(PurePosixPath(self.path)), limit=MAX_REPORT_BYTES)
        except Refused:
            return Unreadable("it or a directory above it is a symbolic link, which is never followed")
        except OSError as error:
            if error.errno == errno.EFBIG:
                return Unreadable(f"it is larger than {MAX_REPORT_BYTES:,} bytes; write the failures alone")
            return Unreadable(error.strerror or str(error))
        if state is None:
            return Unreadable("the check wrote no such file")
        return _decoded(state.content)


def _problem_with(path: str) -> str:
    parts = PurePosixPath(path).parts
    if not path.strip() or "\0" in path or path.startswith("/") or ".." in parts or ".git" in parts or not parts:
        return "its path must be relative to the repository and stay inside it, as in `reports/junit.xml`"
    return ""


def _stamp(tree: Path, path: str) -> Stamp | None:
    """Taken without opening the file. Links among its parents may lead elsewhere, but a stamp is shown to nobody."""
    try:
        status = os.lstat(tree / path)
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _decoded(content: bytes) -> str:
    """UTF-8, or UTF-16 where the file says so; reports of other encodings keep at least their places."""
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if wide else "utf-8-sig", "replace")


def _shown(note: Annotation, mask: Callable[[str], str]) -> Annotation:
    texts = {
        "message": cut_middle(mask(strip_control(note.message)), _MESSAGE_CHARS).strip() or NO_MESSAGE,
        "title": mask(strip_control(note.title)),
        "rule": mask(strip_control(note.rule)),
    }
    return note.model_copy(update=texts)
