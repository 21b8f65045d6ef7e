"""What the error history knows of a run's errors, as a folded part of its comment (REQ-RA-312). It is told as words and
places; a patch is never told, as it may hold code of another day that nobody asked to see again."""

from __future__ import annotations

import re

from bot.model import KnownError, Language, RunView
from bot.reports.format.error_line import readable
from bot.reports.format.markdown import details, escape, plain, within
from bot.reports.format.truncate import inline_code
from bot.reports.history.guidance import guidance_text, how_resolved, resolution_links
from bot.reports.locale.catalog import t

_MAX_SHOWN = 5
_LINE_CHARS = 400
_ROOM = 12_000
"""Characters of the whole part, Markdown included: signs that must be escaped take up to nine each."""

_SEEN = 3
_ERROR_CHARS = 160
_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])(?!\d)")
_COMMIT_CHARS = 7
_LINE = 500


def known_errors(view: RunView, language: Language) -> str:
    """The guidance of the latest attempt, but for errors that are fixed by now; empty where there is none."""
    gone = set(view.error_delta.fixed) if view.error_delta else set()
    items = [_item(known, view, language) for known in view.guidance[:_MAX_SHOWN] if known.error not in gone]
    return details(t(language, "known"), "\n".join(within(items, _ROOM))) if items else ""


def _item(known: KnownError, view: RunView, language: Language) -> str:
    open_errors = (*view.error_delta.remaining, *view.error_delta.introduced) if view.error_delta else ()
    matches = not known.exact or known.error in open_errors
    return known_item(known, view.repo, language, matches=matches)


def known_item(known: KnownError, repo: str, language: Language, *, matches: bool) -> str:
    """The history's lines as a list item, the error in front and how it was resolved below it. `matches`: it is known
    by the error at hand, else by the file."""
    first, *more = (escape(line, _LINE_CHARS) for line in guidance_text(known, language, matches=matches).split("\n"))
    if where := cleared_by(known, repo):
        more.append(t(language, "known.where", places=where))
    return "\n".join([f"- {first}", *(f"  - {line}" for line in more)])


def seen_before(view: RunView, language: Language) -> str:
    """Where the errors that are open now made the repository's checks fail before, the most frequent three first, and
    what cleared each the last time; empty where all are new."""
    moved = view.error_delta
    open_errors = (*moved.remaining, *moved.introduced) if moved else ()
    seen = sorted((one for one in view.seen if one[0] in open_errors and one[1] > 1), key=lambda one: -one[1])[:_SEEN]
    lines = [_seen(*one, view, language) for one in seen]
    if len(lines) == 1 and len(open_errors) == 1:
        return lines[0]
    words = dict(view.printed)
    codes = (inline_code(readable(error, words.get(error, "")), _ERROR_CHARS) for error, _, _ in seen)
    return "\n".join(f"- {code} — {line}" for code, line in zip(codes, lines, strict=True))


def _seen(error: str, times: int, since: str, view: RunView, language: Language) -> str:
    when = month(since, language)
    said = t(language, "seen" if when else "seen.ever", times=times, month=when)
    known = next((one for one in view.guidance if one.exact and one.error == error), None)
    cleared = cleared_by(known, view.repo) if known else ""
    return t(language, "seen.cleared", seen=said, by=cleared) if cleared else f"{said}."


def annotation_line(known: KnownError, language: Language, repo: str, *, seen: tuple[int, str] | None = None) -> str:
    """What is remembered of a finding, in one line of at most 500 characters that mentions nobody; empty where the
    history does not say how it was resolved. `seen` is how often it failed here and since when (ISO 8601)."""
    facts = [_times(*seen, language)] if seen and seen[0] > 1 and known.exact else []
    if cleared := cleared_by(known, repo):
        facts.append(t(language, "pull_check.cleared" if known.exact else "pull_check.cleared.similar", place=cleared))
    resolution = known.resolution
    steps = " → ".join(resolution.tool_sequence)
    steps_text = t(language, "pull_check.how.steps", steps=steps) if steps else ""
    how = " · ".join(part for part in (how_resolved(resolution), steps_text) if part)
    if how:
        facts.append(t(language, "pull_check.how", how=how))
    if not cleared and not how:
        return ""
    return plain(f"💡 {_capital('; '.join(facts))}", _LINE)


def _times(times: int, since: str, language: Language) -> str:
    when = month(since, language)
    return t(language, "pull_check.seen.since" if when else "pull_check.seen", times=times, month=when)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def cleared_by(known: KnownError, repo: str) -> str:
    """`9f3c1ab (#41)`: the commit and the pull request that resolved it last, as far as they are of that repository."""
    found = resolution_links(known, repo)
    commit = next((place[:_COMMIT_CHARS] for place in found if not place.startswith("#")), "")
    pull = next((place for place in found if place.startswith("#")), "")
    return f"{commit} ({pull})" if commit and pull else commit or pull


def month(since: str, language: Language) -> str:
    """`May 2026`, `2026년 5월`, of a date in ISO 8601; empty where it is none."""
    found = _MONTH.match(since)
    return t(language, f"pull_check.month.{found.group(2)}", year=found.group(1)) if found else ""
