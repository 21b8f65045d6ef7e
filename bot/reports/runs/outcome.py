"""The result of a run: why it stopped, what failed, which changes were rejected, what a person can do next (spec
G.4)."""

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
"""Reasons whose sentence contains their figures, so that their details would repeat it (REQ-STOP-001)."""

_PATH = re.compile(r"\S*[/.\\]\S")
_MAX_REJECTIONS = 5


def stopped(view: RunView, language: Language) -> str:
    """Returns why the run stopped: the reason in words, its name, and its figures or its details if these are short."""
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
    """Returns the reason as a sentence of its own, in Markdown; empty for None."""
    return sentence(reason_text(reason, language)) if reason is not None else ""


def stop_sentence(view: RunView, language: Language) -> str:
    """Returns the details of the stop reason as a sentence; empty if there are none."""
    return reason_sentence(view.stop.details if view.stop else None, language)


def sentence(text: str) -> str:
    """Returns a text, such as the fragments that rules write, as a sentence of its own.

    A path or a name at the start is not capitalised; names in the text are between backticks."""
    words = with_code(text)
    first = words[:1] if _PATH.match(words) else words[:1].upper()
    return first + words[1:] + ("" if words.endswith((".", "!", "?", "…")) else ".") if words else ""


def _is_long(text: str) -> bool:
    return "\n" in text.strip() or len(text) > 240


def long_details(view: RunView, language: Language) -> str:
    """Returns the details that are too long for a sentence, as a block of at most 40 lines; else an empty string."""
    text = reason_text(view.stop.details, language) if view.stop else ""
    return fence(cut_lines(strip_control(text).strip("\n"), language=language), "text") if _is_long(text) else ""


def pushed(view: RunView, language: Language) -> str:
    """Returns whether a commit of the run is on GitHub, as a sentence."""
    if view.commit_sha is None:
        return t(language, "nothing_pushed")
    return t(language, "pushed", branch=inline_code(view.branch))


def what_failed(view: RunView, language: Language) -> str:
    """Returns check, command, exit code, time and first error block of the last failure; empty if no check failed."""
    step = failed_step(latest(view))
    if step is None:
        return ""
    facts = [inline_code(step.stage, 40), inline_code(step.command, 200), how_it_ended(step, language)]
    line = " · ".join([*facts, duration(language, step.duration_ms)])
    title = f"**{t(language, 'failure.title')}:** {line}"
    also = others_listed(step.failures, step.failure_count, language)
    return "\n\n".join(part for part in (title, evidence(view, step, language), also) if part)


def rejected_changes(view: RunView, language: Language) -> str:
    """Returns the changes that were rejected or did not apply, except those that the stop reason already describes."""
    stop = reason_text(view.stop.details, language) if view.stop else ""
    texts = dict.fromkeys(reason_text(rejection, language) for rejection in view.rejections)
    lines = [f"- {with_code(text)}" for text in texts if text not in stop]
    shown = bullets(lines[-_MAX_REJECTIONS:], len(lines), language)
    return f"**{t(language, 'not_taken')}**\n\n{shown}" if lines else ""


def next_steps(view: RunView, language: Language, *, explained: bool = False) -> str:
    """Returns what a person can do: at most two hints, then the general steps.

    `explained` is true if the text is itself the answer to `explain`, which is then not suggested."""
    step = failed_step(latest(view))
    keys = [f"next.{view.stop.reason}"] if view.stop else []
    if step is not None:
        keys.append(f"next.{remedy(step)}")
    stage = step.stage if step is not None else ""
    hints = [t(language, key, stage=stage) for key in keys if has_message(key)]
    parts = [] if explained or not view.issues else [t(language, "next.explain")]
    lines = [*hints[:2], retry_hint(view, language), *parts, *saved_work(view, language)]
    return f"**{t(language, 'next.title')}**\n\n" + "\n".join(f"- {line}" for line in lines)


def retry_hint(view: RunView, language: Language) -> str:
    """Returns how to start another run."""
    if not view.issues:
        return t(language, "next.again.task")
    return t(language, "next.again", label=inline_code(view.trigger_label, 60))


def saved_work(view: RunView, language: Language) -> list[str]:
    """Returns where the operator finds the unfinished change, if there is one, and which files could not be saved.

    Its diff is shown separately (`unfinished`)."""
    saved = [t(language, "next.salvage", ref=inline_code(view.salvage_ref))] if view.salvage_ref else []
    return [*saved, *_lost_files(view, language)]


def _lost_files(view: RunView, language: Language) -> list[str]:
    if view.loss is None:
        return []
    if not view.loss.files:
        return [t(language, "next.lost.all")]
    files = ", ".join(inline_code(name, 100) for name in view.loss.files)
    if view.loss.more:
        return [t(language, "next.lost.more", files=files, count=view.loss.more)]
    return [t(language, "next.lost", files=files)]
