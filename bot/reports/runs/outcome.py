"""How a run ended: why it stopped, what failed, which changes were not taken, what a person can do next (spec G.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bot.model import Language, RunView
from bot.reports.format.markdown import escape, with_code
from bot.reports.format.truncate import cut_lines, fence, inline_code, strip_control
from bot.reports.locale.catalog import bullets, duration, has_message, t
from bot.reports.runs.failures import others_listed
from bot.reports.runs.validation import evidence, failed_step, how_it_ended, latest, remedy

_FIGURES: Mapping[str, re.Pattern[str]] = {
    "max_iterations": re.compile(r"(?P<done>\d+)/(?P<most>\d+)"),
    "max_duration": re.compile(r"/(?P<most>\d[\w.]*)(?P<rest>, [^()]*)?"),
    "no_progress": re.compile(r"(?P<done>\d+)"),
}
"""Reasons whose sentence is in the table, so that of their details only the figures are wanted (REQ-STOP-001)."""

_PATH = re.compile(r"\S*[/.\\]\S")
_TROUBLES = 5


def stopped(view: RunView, language: Language) -> str:
    """Why it stopped: the reason in words and by its name, with its figures or its details where they are short."""
    if view.stop is None:
        return t(language, "stop.other") + "."
    key, name, details = f"stop.{view.stop.reason}", inline_code(view.stop.reason, 60), view.stop.details
    why = t(language, key if has_message(key) else "stop.other")
    if view.stop.reason in _FIGURES and (figures := _FIGURES[view.stop.reason].search(details)):
        values = {part: escape(text or "") for part, text in figures.groupdict().items()}
        return t(language, "stopped", why=t(language, f"{key}.figures", **values), name=name)
    return " ".join(
        [t(language, "stopped", why=why, name=name), "" if _is_long(details) else sentence(details)]
    ).strip()


def sentence(text: str) -> str:
    """Details, which rules write as fragments, as a sentence of their own; a path or a name in front keeps its case.
    Names stand between backticks there."""
    words = with_code(text)
    first = words[:1] if _PATH.match(words) else words[:1].upper()
    return first + words[1:] + ("" if words.endswith((".", "!", "?", "…")) else ".") if words else ""


def waiting(view: RunView) -> str:
    """What the run waits for and how that ends: a sentence of its own for each reason, as some end only by a command.
    Empty where it waits for nothing."""
    return sentence(view.waiting_for) if view.waiting_for else ""


def _is_long(text: str) -> bool:
    return "\n" in text.strip() or len(text) > 240


def long_details(view: RunView) -> str:
    """The details that are too long for a sentence, as a block of at most 40 lines."""
    if view.stop is None or not _is_long(view.stop.details):
        return ""
    return fence(cut_lines(strip_control(view.stop.details).strip("\n")), "text")


def pushed(view: RunView, language: Language) -> str:
    """Whether anything of it is on GitHub."""
    if view.commit_sha is None:
        return t(language, "nothing_pushed")
    return t(language, "pushed", branch=inline_code(view.branch))


def what_failed(view: RunView, language: Language) -> str:
    """Check, command, exit code, time and first error block of the last failure; empty where no check failed."""
    step = failed_step(latest(view))
    if step is None:
        return ""
    facts = [inline_code(step.stage, 40), inline_code(step.command, 200), how_it_ended(step, language)]
    line = " · ".join([*facts, duration(language, step.duration_ms)])
    title = f"**{t(language, 'failure.title')}:** {line}"
    also = others_listed(step.failures, step.failure_count, language)
    return "\n\n".join(part for part in (title, evidence(view, step, language), also) if part)


def not_taken(view: RunView, language: Language) -> str:
    """The changes that were refused or did not apply; what the stop reason says already is not said again."""
    said = view.stop.details if view.stop else ""
    lines = [f"- {with_code(trouble)}" for trouble in dict.fromkeys(view.troubles) if trouble not in said]
    shown = bullets(lines[-_TROUBLES:], len(lines), language)
    return f"**{t(language, 'not_taken')}**\n\n{shown}" if lines else ""


def next_steps(view: RunView, language: Language, *, explained: bool = False) -> str:
    """What a person can do, at most two hints first; `explained` where the text is the explanation itself."""
    step = failed_step(latest(view))
    keys = [f"next.{view.stop.reason}"] if view.stop else []
    if step is not None:
        keys.append(f"next.{remedy(step)}")
    stage = step.stage if step is not None else ""
    hints = [t(language, key, stage=stage) for key in keys if has_message(key)]
    parts = [] if explained or not view.issues else [t(language, "next.explain")]
    lines = [*hints[:2], again(view, language), *parts, *salvage(view, language)]
    return f"**{t(language, 'next.title')}**\n\n" + "\n".join(f"- {line}" for line in lines)


def again(view: RunView, language: Language) -> str:
    """How to try again."""
    if not view.issues:
        return t(language, "next.again.task")
    return t(language, "next.again", label=inline_code(view.trigger_label, 60))


def salvage(view: RunView, language: Language) -> list[str]:
    """Where the operator finds the unfinished change, if there is one, and what of it could not be kept. Its diff is
    shown beside that (`unfinished`)."""
    kept = [t(language, "next.salvage", ref=inline_code(view.salvage_ref))] if view.salvage_ref else []
    return [*kept, *_lost(view, language)]


def _lost(view: RunView, language: Language) -> list[str]:
    if view.loss is None:
        return []
    if not view.loss.files:
        return [t(language, "next.lost.all")]
    files = ", ".join(inline_code(name, 100) for name in view.loss.files)
    if view.loss.more:
        return [t(language, "next.lost.more", files=files, count=view.loss.more)]
    return [t(language, "next.lost", files=files)]
