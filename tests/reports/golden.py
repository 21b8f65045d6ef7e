"""Messages compared with what was read and approved."""

from __future__ import annotations

import os
from pathlib import Path

from bot.model import CheckOutput, Language

GOLDEN = Path(__file__).parents[2] / "fixtures" / "golden"

LANGUAGES: tuple[Language, ...] = ("en", "ko")


def compare(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("MENDBOT_GOLDEN") == "rewrite":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"{path.name} is missing; see this file's docstring"
    assert text == path.read_text(encoding="utf-8")


def shown(conclusion: str, output: CheckOutput) -> str:
    marks = [f"{a.level} {a.path}:{a.start_line}-{a.end_line} {a.message}" for a in output.annotations]
    parts = [f"[{conclusion}] {output.title}", output.summary, output.text, "\n".join(marks)]
    return "\n\n".join(part for part in parts if part) + "\n"
