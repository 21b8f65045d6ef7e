"""The last line of every report on a run: its id, and the sandbox in which its commands ran (threats.md 5.3).

A full sandbox is only named; a weaker one is named with the protection that it lacks."""

from __future__ import annotations

from bot.model import Language, Usage
from bot.model.reasons import Reason
from bot.reports.format.markdown import escape, link
from bot.reports.format.truncate import inline_code
from bot.reports.locale.catalog import has_message, t
from bot.reports.locale.reasons import reason_text
from bot.reports.runs.usage import usage_words


def footer(
    run_id: str, sandbox: Reason | None, language: Language, usage: Usage | None = None, page_url: str = ""
) -> str:
    """Returns one line in small print, in which the run is a link to its page, if that has an address; empty if nothing
    is known."""
    words = [t(language, "footer", run=link(inline_code(run_id, 80), page_url))] if run_id else []
    words += [sandbox_words(sandbox, language)] if sandbox else []
    used = usage_words(usage, language) if usage else ""
    words += [used] if used else []
    return f"<sub>{' · '.join(words)}</sub>" if words else ""


def sandbox_words(sandbox: Reason, language: Language) -> str:
    """Returns what people on GitHub need to know about the sandbox, such as `Sandbox: bubblewrap`.

    The description for operators is used if there is no shorter message."""
    short = f"footer.{sandbox.kind}"
    text = t(language, short) if has_message(short) else escape(reason_text(sandbox, language))
    return t(language, "footer.sandbox", sandbox=text)
