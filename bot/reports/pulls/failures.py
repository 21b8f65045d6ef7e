"""The failures of a pull request's check, most severe verdict first.

Each has the evidence for its verdict as a link, its line, and what the error history knows about it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from bot.model import Annotation, Language
from bot.model.pulls import CheckStatus, Failure, PullCheckReport, Verdict
from bot.reports.format.error_line import readable
from bot.reports.format.markdown import details, escape, link, plain, within
from bot.reports.format.truncate import inline_code
from bot.reports.history.guidance import resolution_links
from bot.reports.history.known_errors import known_item, times_seen
from bot.reports.locale.catalog import has_message, t
from bot.reports.pulls.evidence import evidence

VERDICTS: tuple[Verdict, ...] = ("new", "new_flaky", "unsure", "not_reached", "flaky_before", "existing")
"""Most severe first."""

_MAX_LISTED = 50
_MAX_LIST_BYTES = 24_000
"""Bytes of the whole list: a summary has 65,000, and the first error block needs its share."""

_HOW_CHARS = 300
_MAX_PAST = 5
_MAX_PAST_CHARS = 6_000
_ERROR_CHARS = 160
_LONGEST_ADDRESS = 1_000
_MIN_MESSAGE_CHARS = 8
"""Characters that a message needs to identify an error: a shorter one, such as `error`, is part of many texts."""

_TEST_CHARS = 100
"""Characters of a test's name in a check run's title."""

_TITLE_CHARS = 255
"""Characters of an annotation's title that are stored."""
_COMPARED_CHARS = 80
_MAX_FINDINGS = 500
"""The number of findings in which those of an error are searched."""


def commit_link(view: PullCheckReport, sha: str) -> str:
    """Returns the first seven digits of a commit of the pull request's repository, linked to its page."""
    return link(inline_code(sha[:7]), f"{view.github_url}/{view.repo}/commit/{sha}")


@dataclass(frozen=True, slots=True)
class GroupedFailure:
    """One failure as people count it: all errors with one verdict that belong to one finding, or a single error."""

    failure: Failure
    finding: Annotation | None

    @property
    def words(self) -> str:
        """Returns the test and its message, else the first line of the finding, else the readable error.

        The error comes last because a normalised error has lost its figures and paths."""
        failure = self.failure
        if failure.test:
            return f"{failure.test}: {failure.said}" if failure.said else failure.test
        lines = self.finding.message.strip().splitlines() if self.finding else []
        return lines[0] if lines else readable(failure.error, failure.said)


def grouped_failures(check: CheckStatus) -> tuple[GroupedFailure, ...]:
    """Returns the failures of a check as people count them, most severe verdict first: by test, else by finding.

    A finding counts once even if its tool prints the error, its place and a summary."""
    findings = check.step.annotations[:_MAX_FINDINGS] if check.step else ()
    grouped: dict[tuple[Verdict, object], GroupedFailure] = {}
    for verdict in VERDICTS:
        for failure in (each for each in check.failures if each.verdict == verdict):
            finding = finding_of(failure, findings)
            place = failure.error if finding is None else (finding.path, finding.start_line, finding.message)
            key = (verdict, failure.error if failure.test else place)
            previous = grouped.get(key)
            if previous is None or _history_rank(failure) > _history_rank(previous.failure):
                grouped[key] = GroupedFailure(failure, finding)
    return tuple(grouped.values())


def _history_rank(failure: Failure) -> tuple[bool, int]:
    return failure.known is not None, failure.seen.times if failure.seen else 0


def failures_list(view: PullCheckReport, check: CheckStatus, language: Language) -> str:
    """Returns a list item for each failure, at most 50 in 24,000 bytes, and counts the others; empty if nothing
    failed."""
    ordered = grouped_failures(check)
    listed = (_item(view, check, failure, language) for failure in ordered[:_MAX_LISTED])
    items = within(listed, _MAX_LIST_BYTES, size=_line_bytes)
    more_count = len(ordered) - len(items)
    return "\n".join([*items, f"- {t(language, 'pull_check.more', count=more_count)}"] if more_count else items)


def failure_counts(view: PullCheckReport, check: CheckStatus, language: Language) -> str:
    """Returns the failures by verdict: `1 new failing test: NAME, 1 existing failure (also on 1f0c5a8)`.

    If all have one verdict and the runner names no test, the number is the runner's own count of failed tests."""
    grouped = grouped_failures(check)
    failures = [each.failure for each in grouped]
    by_verdict = {verdict: [each for each in failures if each.verdict == verdict] for verdict in VERDICTS}
    verdicts = [verdict for verdict in VERDICTS if by_verdict[verdict]]
    unnamed = len(verdicts) == 1 and not any(failure.test for failure in failures)
    counted = check.step.test_counts.failed if check.step and unnamed else 0
    texts = {verdict: _count(verdict, by_verdict[verdict], counted, language) for verdict in verdicts}
    if "existing" in texts and view.base_sha and not check.kept_from:
        texts["existing"] += t(language, "pull_check.title.base", base=view.base_sha[:7])
    return ", ".join(texts.values())


def _count(verdict: Verdict, failures: list[Failure], counted: int, language: Language) -> str:
    """Returns the number of failures with one verdict, and the name of a single failed test."""
    tests = [failure.test for failure in failures if failure.test]
    key = f"pull_check.title.{verdict}"
    if verdict == "new" and len(tests) == len(failures):
        key += ".tests"
    what = t(language, key, count=counted or len(failures))
    if len(failures) > 1 or not tests or verdict == "existing":
        return what
    return t(language, "pull_check.title.named", what=what, test=plain(tests[0], _TEST_CHARS).replace("`", "'"))


def past_errors(view: PullCheckReport, check: CheckStatus, language: Language) -> str:
    """Returns past errors of the changed files, folded (REQ-RA-312), except those that a failure already names."""
    named = {failure.known.id for failure in check.failures if failure.known is not None}
    listed = [known for known in view.past if known.id not in named][:_MAX_PAST]
    items = [known_item(known, view.repo, language, matches=False) for known in listed]
    return details(t(language, "pull_check.past"), "\n".join(within(items, _MAX_PAST_CHARS))) if items else ""


def finding_of(failure: Failure, findings: Iterable[Annotation]) -> Annotation | None:
    """Returns the finding that belongs to the failure, or None if that would be a guess.

    The first choice is a finding with the name of the failed test. The second is one whose message is in the error's
    text, preferably with its file. The third is the only one whose file and title are in that text."""
    findings = tuple(findings)
    same_test = [each for each in findings if failure.test and _has_test_name(each, failure.test)]
    if same_test:
        return next((each for each in same_test if posixpath.basename(each.path) in failure.test), same_test[0])
    error = " ".join(failure.error.split())
    by_message: list[Annotation] = []
    by_title: list[Annotation] = []
    for finding in findings:
        lines = finding.message[: 2 * _COMPARED_CHARS].strip().splitlines()
        first = " ".join(lines[0].split())[:_COMPARED_CHARS] if lines else ""
        file_named = posixpath.basename(finding.path) in error
        if len(first) >= _MIN_MESSAGE_CHARS and first in error:
            if file_named:
                return finding
            by_message.append(finding)
        elif file_named and finding.title and finding.title in error:
            by_title.append(finding)
    if by_message:
        return by_message[0]
    return by_title[0] if len(by_title) == 1 else None


def _has_test_name(finding: Annotation, test: str) -> bool:
    """Returns whether the finding's title is the test's name, or its end: reports name a test without its file."""
    before = test.removesuffix(finding.title)
    return finding.title == test[:_TITLE_CHARS] or (before != test and not before[-1:].isalnum())


def _line_bytes(item: str) -> int:
    return len(item.encode("utf-8", "replace")) + 1


def _item(view: PullCheckReport, check: CheckStatus, grouped: GroupedFailure, language: Language) -> str:
    failure, words = grouped.failure, grouped.words
    error = inline_code(words, _ERROR_CHARS) if words else t(language, "pull_check.whole")
    facts = [
        f"**{t(language, f'pull_check.{failure.verdict}')}:** {error}",
        _evidence(view, check, failure, language),
    ]
    if grouped.finding is not None:
        facts.append(t(language, "pull_check.at", place=_line_link(view, grouped.finding)))
    item = "- " + " · ".join(fact for fact in facts if fact)
    history = _history(view, failure, language)
    return f"{item}\n  - {history}" if history else item


def _evidence(view: PullCheckReport, check: CheckStatus, failure: Failure, language: Language) -> str:
    """Returns what supports the verdict.

    `check.because` says why the merge base could not be checked; such a failure counts as new if every run failed."""
    base = commit_link(view, view.base_sha) if view.base_sha else ""
    facts = evidence(failure, commit_link(view, view.head_sha), base, language)
    if check.because and failure.verdict == "new":
        facts.append(named_reason(check.because, language))
    if check.rate is not None and failure.head.passed:
        facts.append(t(language, "pull_check.evidence.rate", flaky=check.rate.flaky, runs=check.rate.runs))
    return "; ".join(filter(None, facts))


def _line_link(view: PullCheckReport, finding: Annotation) -> str:
    path, line = posixpath.normpath(finding.path), max(finding.start_line, 1)
    words = inline_code(f"{path}:{line}")
    address = f"{view.github_url}/{view.repo}/blob/{view.head_sha}/{quote(path, safe='/', errors='replace')}"
    outside = path.startswith(("/", "../")) or path == ".."
    linked = words if outside or len(address) > _LONGEST_ADDRESS else link(words, address)
    return words if linked == words else f"{linked.removesuffix(')')}#L{line})"


def _history(view: PullCheckReport, failure: Failure, language: Language) -> str:
    """Returns how often the error was seen, and what resolved it last in the same repository."""
    facts = []
    if failure.seen is not None and failure.seen.times > 1:
        facts.append(times_seen(failure.seen.times, failure.seen.since, language))
    if failure.known is not None and (
        places := [_linked(view, place) for place in resolution_links(failure.known, view.repo)]
    ):
        *pull, last = places
        place = f"{last} ({pull[0]})" if pull else last
        facts.append(t(language, f"pull_check.cleared.{failure.known.match}", place=place))
    elif failure.known is not None and failure.known.resolution.how:
        facts.append(t(language, "pull_check.how", how=escape(failure.known.resolution.how, _HOW_CHARS)))
    return "; ".join(facts)


def _linked(view: PullCheckReport, place: str) -> str:
    """Returns a place from `guidance.resolution_links` as a link, as GitHub links neither kind in a check run."""
    if place.startswith("#"):
        return link(place, f"{view.github_url}/{view.repo}/pull/{place[1:]}")
    return commit_link(view, place)


def named_reason(because: str, language: Language) -> str:
    """Returns a reason as Markdown: the text of a named one (`paths`, `setup`, …), or any other escaped."""
    key = f"pull_check.because.{because}"
    return t(language, key) if has_message(key) else escape(because)
