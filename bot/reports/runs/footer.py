"""The last line of whatever is told of a run: its id, and how well its commands were shut in (threats.md 5.3).

A whole box is told by its name; only what is weaker than that is told with what it lacks."""

from __future__ import annotations

import re

from bot.model import Language
from bot.reports.format.markdown import escape
from bot.reports.format.truncate import inline_code
from bot.reports.locale.catalog import t

_LEVELS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), key)
    for pattern, key in (
        (r"bubblewrap [\w.]+ \(no network, own processes\)", "sandbox.whole"),
        (r"bubblewrap [\w.]+ \(no network, own processes; as root, [^()]*\)", "sandbox.root"),
        (r"none: checks run as this user, .*", "sandbox.none"),
        (r"none: the box does not work here .*", "sandbox.none.trusted"),
    )
)
"""The lines of `workspace.sandbox.sandbox`, which are for operators; a test holds the two together."""


def footer(run_id: str, sandbox: str, language: Language) -> str:
    """One line in small print; empty where neither is known."""
    words = [t(language, "footer", run=inline_code(run_id, 80))] if run_id else []
    words += [sandbox_words(sandbox, language)] if sandbox else []
    return f"<sub>{' · '.join(words)}</sub>" if words else ""


def sandbox_words(sandbox: str, language: Language) -> str:
    """`Sandbox: bubblewrap`; a line of another kind as it is."""
    key = next((key for pattern, key in _LEVELS if pattern.fullmatch(sandbox)), None)
    return t(language, "footer.sandbox", sandbox=t(language, key) if key else escape(sandbox))
