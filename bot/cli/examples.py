"""The examples that `--help` of each command ends with."""

from __future__ import annotations

from collections.abc import Mapping

from cyclopts import App

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "serve": ("serve", "serve --host 0.0.0.0 --port 8080", "serve --role receiver"),
    "check": ("check", "check --check test --json", "check --plan"),
    "group": ("group --by file < issues.json",),
    "fix": (
        'fix --task "divide by zero" --test-command "npm test"',
        'fix --task "lint" --validation-command "ruff check ." --agent fixers',
    ),
    "agent": ("agent check claude",),
    "agent check": ("agent check claude", "agent check codex --json"),
    "worktree": ("worktree create --issue 7", "worktree list"),
    "worktree create": ("worktree create --issue 7 --issue 8",),
    "worktree cleanup": ("worktree cleanup --issue 7",),
    "worktree list": ("worktree list --json",),
    "hook": ("hook install .",),
    "hook install": ("hook install .", "hook install ~ --undo"),
    "history": ("history src/app.py", 'history --error "TypeError: x is undefined"'),
    "history record": ('history record --error "ENOSPC" --how "removed old caches"',),
    "history export": ("history export > history.jsonl",),
    "history import": ("history import history.jsonl",),
    "history trial": ("history trial",),
    "config": ("config check",),
    "config check": ("config check", "config check .github/mendbot.yml --json"),
    "config schema": ("config schema > .github/mendbot.schema.json",),
    "setup": ("setup", "setup --url https://mendbot.example.org --organization octo"),
    "doctor": ("doctor", "doctor --json"),
    "init": ("init", "init --dry-run"),
    "relay": ("relay https://smee.io/Gk1y7QeZ", "relay https://smee.io/Gk1y7QeZ --port 8080"),
    "replay": ("replay 72d3162e-cc78-11e3-81ab-4c9367dc0958", "replay payload.json --event issues"),
    "mcp": ("mcp",),
    "completion": ("completion bash > ~/.local/share/bash-completion/completions/mendbot",),
}
"""Arguments of `mendbot`, by the words of the command."""


def add_examples(app: App, epilogue: str) -> None:
    """End the help of each command with its examples, and then the epilogue of all."""
    for command, examples in EXAMPLES.items():
        each = app
        for word in command.split():
            each = each[word]
        lines = "".join(f"    mendbot {example}\n" for example in examples)
        each.help_epilogue = f"Examples:\n\n{lines}\n{epilogue}"
