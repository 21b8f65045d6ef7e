"""Agent specs: which agents there are, and how settings, a repository's configuration and sessions name them.

What each agent gets is decided where agents are built (`workflows.agents.build_agents`)."""

from __future__ import annotations

import re
import shlex
from difflib import get_close_matches

from bot.model.reasons import Reason, make_reason
from bot.repo_config.describe import brief

PROFILE_NAMES = ("claude", "codex", "gemini", "opencode", "qwen", "aider")
"""Coding agents that are known by name; `bot.agent.profiles` describes them."""
AGENT_NAMES = ("fixers", "history", "command", *PROFILE_NAMES)
AGENT_KINDS = (*AGENT_NAMES, "command:ARGV", "llm:PROVIDER:MODEL")
"""`command` is the operator's own (MENDBOT_AGENT_COMMAND); `command:ARGV` brings its command line along."""
MODEL_PREFIX = "llm:"
MODEL_SPEC = "llm:[a-z][a-z0-9-]{0,39}:[A-Za-z0-9][A-Za-z0-9_.:/@-]{0,199}"
_MODEL = re.compile(MODEL_SPEC)


def agent_problem(spec: str) -> Reason | None:
    """Why this version has no such agent; None where it has one."""
    kind, _, argv = spec.partition(":")
    if kind == "llm":
        return None if _MODEL.fullmatch(spec) else make_reason("agent_spec.model", spec=brief(spec))
    if spec not in AGENT_NAMES and not (kind == "command" and argv.strip()):
        nearest = get_close_matches(spec.lower(), AGENT_NAMES, 1)
        if nearest:
            return make_reason("agent_spec.misspelt", spec=brief(spec), nearest=nearest[0])
        return make_reason("agent_spec.unknown", spec=brief(spec), agents=", ".join(AGENT_KINDS))
    try:
        shlex.split(argv)
    except ValueError as error:
        return make_reason("agent_spec.quotes", spec=brief(spec), error=str(error))
    return None
