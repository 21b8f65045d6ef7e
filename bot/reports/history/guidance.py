"""Texts of the error history: guidance for agents and threads, and the answers of `mendbot history`.

The hook has the same guidance sentences, as it may import nothing; a test compares the two (REQ-RA-312)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from bot.model import KnownError, Language, Resolution
from bot.model.reasons import Reason
from bot.reports.format.error_line import readable
from bot.reports.format.truncate import one_line
from bot.reports.locale.catalog import t
from bot.reports.locale.reasons import reason_text

_WIDTH = 2_000
_COMMIT = re.compile(r"[0-9a-f]{7,64}", re.IGNORECASE)
_LARGEST_NUMBER = 10**9


def file_guidance(known: KnownError, language: Language) -> str:
    """Returns a past error of a file and its resolution, in the same lines as the hook's (REQ-RA-301); plain text."""
    return "\n".join(_lines(known, language, "file", "path"))


def error_guidance(known: KnownError, language: Language) -> str:
    """Returns how the current error, or one that resembles it, was resolved before; plain text."""
    return "\n".join(_lines(known, language, known.match, "earlier"))


def guidance_text(known: KnownError, language: Language, *, matches: bool) -> str:
    """Returns the guidance for people, with the error in readable form instead of the key that agents look it up by.

    `matches` is true if the entry was found by the error, false if by the file."""
    shown = known.model_copy(update={"error": readable(known.error, known.raw)})
    return (error_guidance if matches else file_guidance)(shown, language)


def resolution_links(known: KnownError, repo: str) -> tuple[str, ...]:
    """Returns the pull request (`#12`) and the commit (`0123456789ab`) of the resolution, if they are of that
    repository.

    GitHub turns both into links in a comment (docs, autolinked references)."""
    origin, pull, commit = known.resolution.repo, known.resolution.pull_request, known.resolution.commit
    if not origin or origin.lower() != repo.lower():
        return ()
    links = [f"#{pull}"] if pull and 0 < pull < _LARGEST_NUMBER else []
    return (*links, commit[:12].lower()) if commit and _COMMIT.fullmatch(commit) else tuple(links)


def listing(errors: Sequence[KnownError], language: Language, *, of_file: bool) -> str:
    """Returns the answer of `history FILE` (`of_file`) or `history --error TEXT`, with a paragraph for each error."""
    paragraphs = [
        f"{guidance_text(known, language, matches=not of_file)}\n{_facts(known, language)}" for known in errors
    ]
    return "\n\n".join(paragraphs) or t(language, "history.listing.nothing")


def as_json(errors: Sequence[KnownError]) -> list[dict[str, Any]]:
    """Returns the errors for programs (`--json`, `/api/history`), with names in camelCase."""
    return [known.model_dump(mode="json", by_alias=True) for known in errors]


def recorded(kb_id: int, language: Language) -> str:
    """Returns the answer of `history record`."""
    return t(language, "history.recorded", id=kb_id)


def imported(taken: int, refused: Sequence[Reason], language: Language, *, more: int = 0) -> str:
    """Returns the answer of `history import`: how many records were imported, and each refused line.

    `more` is the number of refused lines that are not listed."""
    lines = [f"  {one_line(reason_text(reason, language))}" for reason in refused]
    refused_lines = [t(language, "history.refused", count=len(refused) + more), *lines]
    refused_lines += [f"  {t(language, 'history.more', count=more)}"] if more else []
    return "\n".join([t(language, "history.taken", count=taken), *(refused_lines if refused else [])])


def _lines(known: KnownError, language: Language, head: str, path: str) -> list[str]:
    resolution = known.resolution
    lines = [t(language, f"history.{head}", error=one_line(known.error, _WIDTH))]
    if how := how_resolved(resolution):
        lines.append(t(language, "history.how", how=one_line(how, _WIDTH)))
    if resolution.tool_sequence:
        lines.append(t(language, f"history.{path}", steps=one_line(" → ".join(resolution.tool_sequence), _WIDTH)))
    return lines


def how_resolved(resolution: Resolution) -> str:
    """Returns how the error was resolved, as far as known: `ann (Edit): start the sum at 0`; untrusted."""
    tool = f"({resolution.tool})" if resolution.tool else ""
    who = " ".join(part for part in (resolution.resolved_by, tool) if part)
    return ": ".join(part for part in (who, resolution.how) if part)


def _facts(known: KnownError, language: Language) -> str:
    resolution = known.resolution
    facts = [t(language, "history.used", count=known.use_count, day=known.last_used[:10] or "?")]
    if known.shown:
        facts.append(t(language, "history.shown", shown=known.shown, passed=known.passed))
    if resolution.proof is not None:
        facts.append(t(language, f"proof.level.{resolution.proof}"))
    if resolution.pull_request is not None:
        facts.append(f"{resolution.repo or ''}#{resolution.pull_request}")
    if resolution.commit:
        facts.append(f"{resolution.repo or ''}@{resolution.commit[:12]}")
    return one_line(" · ".join(facts), _WIDTH)
