"""The last line of every report on a run: its id, and the sandbox in which its commands ran (threats.md 5.3).

A full sandbox is only named; a weaker one is named with the protection that it lacks."""

from __future__ import annotations

from bot.model import Language
from bot.model.reasons import Reason
from bot.reports.format.markdown import escape
from bot.reports.format.truncate import inline_code
from bot.reports.locale.catalog import has_message, t
from bot.reports.locale.reasons import reason_text


def footer(run_id: str, sandbox: Reason | None, language: Language) -> str:
    """Returns one line in small print; empty if neither is known."""
    words = [t(language, "footer", run=inline_code(run_id, 80))] if run_id else []
    words += [sandbox_words(sandbox, language)] if sandbox else []
    return f"<sub>{' · '.join(words)}</sub>" if words else ""


def sandbox_words(sandbox: Reason, language: Language) -> str:
    """Returns what people on GitHub need to know about the sandbox, such as `Sandbox: bubblewrap`.

    The description for operators is used if there is no shorter message."""
    short = f"footer.{sandbox.kind}"
    text = t(language, short) if has_message(short) else escape(reason_text(sandbox, language))
    return t(language, "footer.sandbox", sandbox=text)
