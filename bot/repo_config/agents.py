"""Agent specs as anybody may write them: which there are and how they are spelt. What each is given is decided where
agents are built (`workflows.agents.build_agents`); the operator's settings and a repository's configuration are judged
alike."""

from __future__ import annotations

import shlex

from bot.repo_config.describe import brief

AGENT_KINDS = ("fixers", "history", "command", "command:ARGV")
"""`command` is the operator's own (MENDBOT_AGENT_COMMAND); `command:ARGV` brings its command line along."""
_PROFILES = frozenset({"claude", "codex", "gemini", "opencode", "qwen", "aider"})


def agent_problem(spec: str) -> str | None:
    """Why this is no agent of this version, a sentence with the remedy; None where it is one."""
    kind, _, argv = spec.partition(":")
    if kind in _PROFILES and not argv:
        return f"the agent `{kind}` is not built in yet; give its command line instead: `command:{kind} ARGUMENTS`"
    if kind == "llm":
        return f"language models are not built in yet (`{brief(spec)}`); give a program instead: `command:ARGV`"
    if spec not in AGENT_KINDS[:3] and not (kind == "command" and argv.strip()):
        return f"unknown agent `{brief(spec)}`; this version knows {', '.join(AGENT_KINDS)}"
    try:
        shlex.split(argv)
    except ValueError as error:
        return f"the agent `{brief(spec)}` is no command line ({error}); close its quotes"
    return None
