"""What the error history says in words: guidance for agents and threads, and the answers of `mendbot history`.
The guidance's sentences are the hook's, which may import nothing; a test holds the two together (REQ-RA-312)."""

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
    """A past error of a file and its resolution, in the hook's lines (REQ-RA-301); plain text."""
    return "\n".join(_lines(known, language, "file", "path"))


def error_guidance(known: KnownError, language: Language) -> str:
    """How the error at hand, or one like it, was resolved before; plain text."""
    return "\n".join(_lines(known, language, "error" if known.exact else "similar", "earlier"))


def guidance_text(known: KnownError, language: Language, *, matches: bool) -> str:
    """The same for people, who are shown the error as it can be read and not the key that agents look it up by.
    `matches`: it is known by the error at hand, else by the file."""
    seen = known.model_copy(update={"error": readable(known.error, known.raw)})
    return (error_guidance if matches else file_guidance)(seen, language)


def resolution_links(known: KnownError, repo: str) -> tuple[str, ...]:
    """`#12` and `0123456789ab`, the pull request and the commit that resolved it, where they are of that repository:
    GitHub makes links of them in a comment of its own accord (docs, autolinked references)."""
    made = known.resolution
    if not made.repo or made.repo.lower() != repo.lower():
        return ()
    found = [f"#{made.pull_request}"] if made.pull_request and 0 < made.pull_request < _LARGEST_NUMBER else []
    return (*found, made.commit[:12].lower()) if made.commit and _COMMIT.fullmatch(made.commit) else tuple(found)


def listing(found: Sequence[KnownError], language: Language, *, of_file: bool) -> str:
    """The answer of `history FILE` (`of_file`) or `history --error TEXT`, a paragraph for each."""
    paragraphs = [
        f"{guidance_text(known, language, matches=not of_file)}\n{_facts(known, language)}" for known in found
    ]
    return "\n\n".join(paragraphs) or t(language, "history.listing.nothing")


def as_json(found: Sequence[KnownError]) -> list[dict[str, Any]]:
    """The same for programs (`--json`, `/api/history`), camelCase."""
    return [known.model_dump(mode="json", by_alias=True) for known in found]


def recorded(kb_id: int, language: Language) -> str:
    """The answer of `history record`."""
    return t(language, "history.recorded", id=kb_id)


def imported(taken: int, refused: Sequence[Reason], language: Language, *, more: int = 0) -> str:
    """The answer of `history import`: how many records were taken, each line that was not, and how many `more`."""
    lines = [f"  {one_line(reason_text(reason, language))}" for reason in refused]
    bad = [t(language, "history.refused", count=len(refused) + more), *lines]
    bad += [f"  {t(language, 'history.more', count=more)}"] if more else []
    return "\n".join([t(language, "history.taken", count=taken), *(bad if refused else [])])


def _lines(known: KnownError, language: Language, head: str, path: str) -> list[str]:
    resolution = known.resolution
    lines = [t(language, f"history.{head}", error=one_line(known.error, _WIDTH))]
    if how := how_resolved(resolution):
        lines.append(t(language, "history.how", how=one_line(how, _WIDTH)))
    if resolution.tool_sequence:
        lines.append(t(language, f"history.{path}", steps=one_line(" → ".join(resolution.tool_sequence), _WIDTH)))
    return lines


def how_resolved(resolution: Resolution) -> str:
    """`ann (Edit): start the sum at 0`, as far as it is known; untrusted."""
    tool = f"({resolution.tool})" if resolution.tool else ""
    who = " ".join(part for part in (resolution.resolved_by, tool) if part)
    return ": ".join(part for part in (who, resolution.how) if part)


def _facts(known: KnownError, language: Language) -> str:
    resolution = known.resolution
    facts = [t(language, "history.used", count=known.use_count, day=known.last_used[:10] or "?")]
    if known.shown:
        facts.append(t(language, "history.shown", shown=known.shown, passed=known.passed))
    if resolution.pull_request is not None:
        facts.append(f"{resolution.repo or ''}#{resolution.pull_request}")
    if resolution.commit:
        facts.append(f"{resolution.repo or ''}@{resolution.commit[:12]}")
    return one_line(" · ".join(facts), _WIDTH)
