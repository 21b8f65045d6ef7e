"""What the error history knows about a run's errors, as a folded section of its comment (REQ-RA-312).

The section has sentences and links only, never a patch, as a patch may contain old code that should not appear
again."""

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
_MAX_CHARS = 12_000
"""Characters of the whole section, Markdown included: a sign that must be escaped takes up to nine."""

_MAX_SEEN = 3
_ERROR_CHARS = 160
_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])(?!\d)")
_COMMIT_CHARS = 7
_ANNOTATION_CHARS = 500


def known_errors(view: RunView, language: Language) -> str:
    """Returns the guidance of the latest attempt, except for errors that are fixed by now; empty if there is none."""
    fixed = set(view.error_delta.fixed) if view.error_delta else set()
    items = [_item(known, view, language) for known in view.guidance[:_MAX_SHOWN] if known.error not in fixed]
    return details(t(language, "known"), "\n".join(within(items, _MAX_CHARS))) if items else ""


def _item(known: KnownError, view: RunView, language: Language) -> str:
    open_errors = (*view.error_delta.remaining, *view.error_delta.introduced) if view.error_delta else ()
    matches = not known.exact or known.error in open_errors
    return known_item(known, view.repo, language, matches=matches)


def known_item(known: KnownError, repo: str, language: Language, *, matches: bool) -> str:
    """Returns the history's lines as a list item: the error, and below it how it was resolved.

    `matches` is true if the entry was found by the error, false if by the file."""
    first, *lines = (escape(line, _LINE_CHARS) for line in guidance_text(known, language, matches=matches).split("\n"))
    if places := cleared_by(known, repo):
        lines.append(t(language, "known.where", places=places))
    if known.resolution.proof is not None:
        level = t(language, f"proof.level.{known.resolution.proof}")
        lines.append(t(language, "known.proof", level=level))
    return "\n".join([f"- {first}", *(f"  - {line}" for line in lines)])


def seen_before(view: RunView, language: Language) -> str:
    """Returns how often the currently open errors have failed the repository's checks before, and what resolved each.

    Only the three most frequent errors are included. Empty if all errors are new."""
    delta = view.error_delta
    open_errors = (*delta.remaining, *delta.introduced) if delta else ()
    repeated = (entry for entry in view.seen if entry[0] in open_errors and entry[1] > 1)
    seen = sorted(repeated, key=lambda entry: -entry[1])[:_MAX_SEEN]
    lines = [_seen(*entry, view, language) for entry in seen]
    if len(lines) == 1 and len(open_errors) == 1:
        return lines[0]
    words = dict(view.printed)
    codes = (inline_code(readable(error, words.get(error, "")), _ERROR_CHARS) for error, _, _ in seen)
    return "\n".join(f"- {code} — {line}" for code, line in zip(codes, lines, strict=True))


def _seen(error: str, times: int, since: str, view: RunView, language: Language) -> str:
    when = month(since, language)
    text = t(language, "seen" if when else "seen.ever", times=times, month=when)
    known = next((entry for entry in view.guidance if entry.exact and entry.error == error), None)
    cleared = cleared_by(known, view.repo) if known else ""
    return t(language, "seen.cleared", seen=text, by=cleared) if cleared else f"{text}."


def annotation_line(known: KnownError, language: Language, repo: str, *, seen: tuple[int, str] | None = None) -> str:
    """Returns what the history knows about a finding, in one line of at most 500 characters without mentions.

    Empty if the history does not say how it was resolved. `seen` is how often it failed here and since when (ISO
    8601)."""
    facts = [times_seen(*seen, language)] if seen and seen[0] > 1 and known.exact else []
    if cleared := cleared_by(known, repo):
        facts.append(t(language, f"pull_check.cleared.{known.match}", place=cleared))
    resolution = known.resolution
    steps = " → ".join(resolution.tool_sequence)
    steps_text = t(language, "pull_check.how.steps", steps=steps) if steps else ""
    how = " · ".join(part for part in (how_resolved(resolution), steps_text) if part)
    if how:
        facts.append(t(language, "pull_check.how", how=how))
    if not cleared and not how:
        return ""
    return plain(f"💡 {_capital('; '.join(facts))}", _ANNOTATION_CHARS)


def times_seen(times: int, since: str, language: Language) -> str:
    """Returns how often an error was seen, and since which month if `since` is a date in ISO 8601."""
    when = month(since, language)
    return t(language, "pull_check.seen.since" if when else "pull_check.seen", times=times, month=when)


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def cleared_by(known: KnownError, repo: str) -> str:
    """Returns the commit and the pull request that resolved the error last, `9f3c1ab (#41)`, if they are of that
    repository."""
    links = resolution_links(known, repo)
    commit = next((link[:_COMMIT_CHARS] for link in links if not link.startswith("#")), "")
    pull = next((link for link in links if link.startswith("#")), "")
    return f"{commit} ({pull})" if commit and pull else commit or pull


def month(since: str, language: Language) -> str:
    """Returns the month of a date in ISO 8601: `May 2026`, `2026년 5월`; empty if it is not a date."""
    match = _MONTH.match(since)
    return t(language, f"pull_check.month.{match.group(2)}", year=match.group(1)) if match else ""
