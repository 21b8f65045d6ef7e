"""How a run ended: why it stopped, what failed, which changes were not taken, what a person can do next (spec G.4)."""

from __future__ import annotations

import re

from bot.model import Language, RunView
from bot.model.reasons import Reason
from bot.reports.format.markdown import with_code
from bot.reports.format.truncate import cut_lines, fence, inline_code, strip_control
from bot.reports.locale.catalog import bullets, duration, has_message, t
from bot.reports.locale.reasons import reason_text
from bot.reports.runs.failures import others_listed
from bot.reports.runs.validation import evidence, failed_step, how_it_ended, latest, remedy

_FIGURES = frozenset({"max_iterations", "max_duration", "max_duration.paused", "no_progress"})
"""Reasons whose sentence names their figures, so that their details would only repeat it (REQ-STOP-001)."""

_PATH = re.compile(r"\S*[/.\\]\S")
_TROUBLES = 5


def stopped(view: RunView, language: Language) -> str:
    """Why it stopped: the reason in words and by its name, with its figures or its details where they are short."""
    if view.stop is None:
        return t(language, "stop.other") + "."
    details, name = view.stop.details, inline_code(view.stop.reason, 60)
    if details.kind in _FIGURES:
        why = t(language, f"stop.{details.kind}.figures", **details.values)
        return t(language, "stopped", why=why, name=name)
    key, text = f"stop.{view.stop.reason}", reason_text(details, language)
    why = t(language, key if has_message(key) else "stop.other")
    return " ".join([t(language, "stopped", why=why, name=name), "" if _is_long(text) else sentence(text)]).strip()


def reason_sentence(reason: Reason | None, language: Language) -> str:
    """The reason as a sentence of its own, as Markdown; empty where there is none."""
    return sentence(reason_text(reason, language)) if reason is not None else ""


def stop_sentence(view: RunView, language: Language) -> str:
    """The details of the stop reason as a sentence; empty where there are none."""
    return reason_sentence(view.stop.details if view.stop else None, language)


def sentence(text: str) -> str:
    """Details, which rules write as fragments, as a sentence of their own; a path or a name in front keeps its case.
    Names stand between backticks there."""
    words = with_code(text)
    first = words[:1] if _PATH.match(words) else words[:1].upper()
    return first + words[1:] + ("" if words.endswith((".", "!", "?", "…")) else ".") if words else ""


def _is_long(text: str) -> bool:
    return "\n" in text.strip() or len(text) > 240


def long_details(view: RunView, language: Language) -> str:
    """The details that are too long for a sentence, as a block of at most 40 lines."""
    text = reason_text(view.stop.details, language) if view.stop else ""
    return fence(cut_lines(strip_control(text).strip("\n"), language=language), "text") if _is_long(text) else ""


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
    stop = reason_text(view.stop.details, language) if view.stop else ""
    texts = dict.fromkeys(reason_text(trouble, language) for trouble in view.rejections)
    lines = [f"- {with_code(text)}" for text in texts if text not in stop]
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
    lines = [*hints[:2], again(view, language), *parts, *saved_work(view, language)]
    return f"**{t(language, 'next.title')}**\n\n" + "\n".join(f"- {line}" for line in lines)


def again(view: RunView, language: Language) -> str:
    """How to try again."""
    if not view.issues:
        return t(language, "next.again.task")
    return t(language, "next.again", label=inline_code(view.trigger_label, 60))


def saved_work(view: RunView, language: Language) -> list[str]:
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
