"""`python -m tests.documents.generated`: write the pages of the documents that are made from the code."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from bot.cli import app
from bot.cli.examples import EXAMPLES

DOCS = Path(__file__).parents[2] / "docs"
COMMAND = "python -m tests.documents.generated"
_NOTE = f"<!-- Made by `{COMMAND}`. Do not edit it. -->"


def cli_page() -> str:
    """Every command with its options, from the help of the commands themselves."""
    text = app.generate_docs(output_format="markdown", recursive=True, usage_name="mendbot").replace(
        " *[default: False]*", ""
    )
    text = re.sub(r"^(mendbot [a-z ]*) -m \S+", r"\1", text, flags=re.MULTILINE)  # how this process was started
    text = text.replace("```console", "```text").replace("mendbot history history", "mendbot history")
    sections = re.split(r"^(?=#{2,3} mendbot )", text, flags=re.MULTILINE)[1:]
    body = "\n".join(_with_examples(section.strip()) for section in sections)
    return f"""{_NOTE}

# All commands and options

[The command line](command-line.md) shows what they are for. `mendbot completion bash` (or `zsh`, `fish`) prints a
script that completes them. Exit codes: 0 done and passed, 1 done and not passed, 2 bad input, 3 a fault of Mendbot.

{body}"""


def _with_examples(section: str) -> str:
    command = re.match(r"#+ mendbot (.+)", section)[1]  # type: ignore[index]
    lines = "\n".join(f"mendbot {example}" for example in EXAMPLES.get(command, ()))
    return f"{section}\n\n```sh\n{lines}\n```\n" if lines else f"{section}\n"


GENERATED: Mapping[str, Callable[[], str]] = {"cli.md": cli_page}
"""The pages by their file's name."""


def main() -> int:
    for name, page in GENERATED.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
