"""The failures of a pull request's check, gravest first, each with the evidence for its verdict as a link, the line it
belongs to, and what is remembered of it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from bot.model import Annotation, Language
from bot.model.pulls import CheckStatus, Failure, PullCheckReport, Verdict
from bot.reports.format.error_line import readable
from bot.reports.format.markdown import details, escape, link, within
from bot.reports.format.truncate import inline_code
from bot.reports.history.guidance import resolution_links
from bot.reports.history.known_errors import known_item, month
from bot.reports.locale.catalog import has_message, t

VERDICTS: tuple[Verdict, ...] = ("new", "also_on_base", "flaky")
"""The gravest first."""

_LISTED = 50
_ROOM = 24_000
"""Bytes of the whole list: a summary has 65,000, and the first error block needs its share."""

_HOW_CHARS = 300
_PAST = 5
_PAST_ROOM = 6_000
_ERROR_CHARS = 160
_LONGEST_ADDRESS = 1_000
_TELLING = 8
"""Characters that a message needs to be known by: a shorter one, such as `error`, is part of many texts."""

_TITLE = 255
"""Characters of an annotation's title that are kept."""
_READ = 80
_MATCHED = 500
"""Findings among which those of an error are looked for."""


def commit_link(view: PullCheckReport, sha: str) -> str:
    """A commit of the pull request's repository by its first seven digits, linked to its page."""
    return link(inline_code(sha[:7]), f"{view.github_url}/{view.repo}/commit/{sha}")


@dataclass(frozen=True, slots=True)
class GroupedFailure:
    """What people count as one failure: all errors with one verdict that belong to one finding, or an error alone."""

    failure: Failure
    finding: Annotation | None

    @property
    def words(self) -> str:
        """The test and what is wrong with it, or the finding's own first line: a normalised error has lost its figures
        and paths."""
        failure = self.failure
        if failure.test:
            return f"{failure.test}: {failure.said}" if failure.said else failure.test
        lines = self.finding.message.strip().splitlines() if self.finding else []
        return lines[0] if lines else readable(failure.error, failure.said)


def grouped_failures(check: CheckStatus) -> tuple[GroupedFailure, ...]:
    """The failures of a check as people count them, gravest verdict first: each test, and else each finding, though its
    tool prints the error, its place and a summary of it."""
    findings = check.step.annotations[:_MATCHED] if check.step else ()
    grouped: dict[tuple[Verdict, object], GroupedFailure] = {}
    for verdict in VERDICTS:
        for failure in (one for one in check.failures if one.verdict == verdict):
            finding = finding_of(failure, findings)
            place = failure.error if finding is None else (finding.path, finding.start_line, finding.message)
            key = (verdict, failure.error if failure.test else place)
            before = grouped.get(key)
            if before is None or _remembers(failure) > _remembers(before.failure):
                grouped[key] = GroupedFailure(failure, finding)
    return tuple(grouped.values())


def _remembers(failure: Failure) -> tuple[bool, int]:
    return failure.known is not None, failure.seen.times if failure.seen else 0


def failures_list(view: PullCheckReport, check: CheckStatus, language: Language) -> str:
    """A list item for each failure; at most 50 in 24,000 bytes, the others counted; empty where nothing failed."""
    ordered = grouped_failures(check)
    items = _fitting(_item(view, check, told, language) for told in ordered[:_LISTED])
    left = len(ordered) - len(items)
    return "\n".join([*items, f"- {t(language, 'pull_check.more', count=left)}"] if left else items)


def past_errors(view: PullCheckReport, check: CheckStatus, language: Language) -> str:
    """Past errors of the changed files, folded, beside what fails now (REQ-RA-312); those that a failure names already
    are left out."""
    named = {failure.known.id for failure in check.failures if failure.known is not None}
    listed = [known for known in view.past if known.id not in named][:_PAST]
    items = [known_item(known, view.repo, language, matches=False) for known in listed]
    return details(t(language, "pull_check.past"), "\n".join(within(items, _PAST_ROOM))) if items else ""


def finding_of(failure: Failure, findings: Iterable[Annotation]) -> Annotation | None:
    """The finding that bears the failed test's name; else the one whose message stands in the error's text, before
    others the one whose file is named there too; else the only one whose file and title are; None where that would be a
    guess."""
    findings = tuple(findings)
    named_so = [one for one in findings if failure.test and _bears(one, failure.test)]
    if named_so:
        return next((one for one in named_so if posixpath.basename(one.path) in failure.test), named_so[0])
    error = " ".join(failure.error.split())
    by_message: list[Annotation] = []
    by_title: list[Annotation] = []
    for finding in findings:
        lines = finding.message[: 2 * _READ].strip().splitlines()
        first = " ".join(lines[0].split())[:_READ] if lines else ""
        named = posixpath.basename(finding.path) in error
        if len(first) >= _TELLING and first in error:
            if named:
                return finding
            by_message.append(finding)
        elif named and finding.title and finding.title in error:
            by_title.append(finding)
    if by_message:
        return by_message[0]
    return by_title[0] if len(by_title) == 1 else None


def _bears(finding: Annotation, test: str) -> bool:
    """Whether the finding's title is the test's name, or its end: reports name a test without its file."""
    before = test.removesuffix(finding.title)
    return finding.title == test[:_TITLE] or (before != test and not before[-1:].isalnum())


def _fitting(items: Iterable[str]) -> list[str]:
    """The first items that together have at most `_ROOM` bytes, and in any case the first."""
    kept: list[str] = []
    room = _ROOM
    for item in items:
        room -= len(item.encode("utf-8", "replace")) + 1
        if kept and room < 0:
            break
        kept.append(item)
    return kept


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
    memory = _memory(view, failure, language)
    return f"{item}\n  - {memory}" if memory else item


def _evidence(view: PullCheckReport, check: CheckStatus, failure: Failure, language: Language) -> str:
    """A check that ran says in `because` why its base could not be told: then nothing is claimed of the base."""
    base = commit_link(view, view.base_sha) if view.base_sha else ""
    if failure.verdict == "flaky":
        return _flaky(view, check, language)
    if failure.verdict == "also_on_base":
        key = "evidence.also_on_base" if base else "evidence.also_on_base.unnamed"
        return t(language, f"pull_check.{key}", base=base)
    if check.because:
        return named_reason(check.because, language)
    return t(language, "pull_check.evidence.new", base=base) if base else t(language, "pull_check.evidence.unknown")


def _flaky(view: PullCheckReport, check: CheckStatus, language: Language) -> str:
    passed = all(failure.verdict == "flaky" for failure in check.failures)
    key = "evidence.flaky" if passed else "evidence.flaky.some"
    facts = [t(language, f"pull_check.{key}", head=commit_link(view, view.head_sha))]
    if check.rate is not None:
        facts.append(t(language, "pull_check.evidence.rate", flaky=check.rate.flaky, runs=check.rate.runs))
    return "; ".join(facts)


def _line_link(view: PullCheckReport, finding: Annotation) -> str:
    path, line = posixpath.normpath(finding.path), max(finding.start_line, 1)
    words = inline_code(f"{path}:{line}")
    address = f"{view.github_url}/{view.repo}/blob/{view.head_sha}/{quote(path, safe='/', errors='replace')}"
    outside = path.startswith(("/", "../")) or path == ".."
    made = words if outside or len(address) > _LONGEST_ADDRESS else link(words, address)
    return words if made == words else f"{made.removesuffix(')')}#L{line})"


def _memory(view: PullCheckReport, failure: Failure, language: Language) -> str:
    """How often the error was seen, and the places of the same repository that resolved it last."""
    facts = []
    if failure.seen is not None and failure.seen.times > 1:
        facts.append(_seen(failure.seen.times, failure.seen.since, language))
    if failure.known is not None and (
        where := [_linked(view, one) for one in resolution_links(failure.known, view.repo)]
    ):
        *pull, last = where
        key = "cleared" if failure.known.exact else "cleared.similar"
        facts.append(t(language, f"pull_check.{key}", place=f"{last} ({pull[0]})" if pull else last))
    elif failure.known is not None and failure.known.resolution.how:
        facts.append(t(language, "pull_check.how", how=escape(failure.known.resolution.how, _HOW_CHARS)))
    return "; ".join(facts)


def _seen(times: int, since: str, language: Language) -> str:
    when = month(since, language)
    return t(language, "pull_check.seen.since" if when else "pull_check.seen", times=times, month=when)


def _linked(view: PullCheckReport, place: str) -> str:
    """`#12` or a commit, as `guidance.resolution_links` writes them; GitHub links neither by itself in a check run."""
    if place.startswith("#"):
        return link(place, f"{view.github_url}/{view.repo}/pull/{place[1:]}")
    return commit_link(view, place)


def named_reason(because: str, language: Language) -> str:
    """A reason as Markdown: one that has a name (`paths`, `setup`, …) in the language's words, any other escaped."""
    key = f"pull_check.because.{because}"
    return t(language, key) if has_message(key) else escape(because)
