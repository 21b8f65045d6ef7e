"""Places named in tool output, as annotations of files in the tree: what a check run shows beside the code.
Nothing outside the tree is named and no more than a check run can carry (T40)."""

from __future__ import annotations

from collections.abc import Iterator

from bot.model import Annotation
from bot.rules.failures.findings import Finding
from bot.rules.failures.junit_in_logs import BEGINS
from bot.rules.failures.log import Log
from bot.rules.failures.places import Place
from bot.rules.failures.stack_frames import placed_findings

MAX_ANNOTATIONS = 1_000
"""The limit of annotations of one output: more than a check run shows (200, T40), so that the gravest are among
them."""

NO_MESSAGE = "problem reported here"
"""The message for a place without a message of the tool."""


def find_annotations(log: Log, stage: str, limit: int = MAX_ANNOTATIONS) -> tuple[Annotation, ...]:
    """The findings in a tool's output, first come first, each once, at most `limit`.

    Places outside the tree, and in what was installed into it, are dropped. Paths are relative with `/`, lines count
    from 1. `stage` titles what brings no title of its own."""
    seen: dict[tuple[str, int, str], Finding] = {}
    whole_files: dict[tuple[str, int, str], Finding] = {}
    for finding in placed_findings(_within_tests(log), log.lines):
        place = whole_files if finding.whole else seen
        place.setdefault((finding.path, finding.line, finding.message), finding)
        if len(seen) >= limit or len(whole_files) >= limit:
            break
    located = {path for path, _, _ in seen}
    for key, finding in whole_files.items():  # a summary's line holds less than the place it summarises
        if finding.path not in located:
            seen.setdefault(key, finding)
    return tuple(_annotation(finding, stage) for finding in seen.values())[:limit]


def _within_tests(log: Log) -> Iterator[Place]:
    """The places, each with the failed test in whose part of the log it stands. A printed JUnit report is one part for
    all its tests, so it is left out."""
    parts = ((part, test.name) for test in log.tests.tests for part in test.lines)
    tests = {at: name for part, name in parts if not BEGINS.match(log.lines[part.start]) for at in part}
    for place in log.places:
        test = tests.get(place.at)
        yield place if test is None else place._replace(finding=place.finding._replace(test=test))


def _annotation(finding: Finding, stage: str) -> Annotation:
    return Annotation(
        path=finding.path,
        start_line=finding.line,
        end_line=finding.end_line,
        level=finding.level,
        message=finding.message or NO_MESSAGE,
        title=(finding.test or finding.title or finding.rule or stage)[:255],
        rule=finding.rule,
    )
