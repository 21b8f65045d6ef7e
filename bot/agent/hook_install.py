"""Puts the hooks into a coding agent's settings, beside whatever stands there already.

They call an absolute interpreter; the pre-tool hook without site packages, as an agent waits for it before each tool,
and imports the hook's compiled copy. Where that is gone it exits 1; a script that cannot be opened would exit 2, which
tells an agent to block the tool (code.claude.com/docs/en/hooks)."""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import bot
from bot.agent import hook
from bot.errors import UserError
from bot.proc import base_python

MATCHER = "Edit|Write|Bash|Task"
TIMEOUT_S = 2
POST_TIMEOUT_S = 5
PACKAGE = Path(bot.__file__).parent
"""All that the hooks read of the bot."""
_MARK = "mendbot-hook"
_LAUNCH = "import sys; sys.path.append(sys.argv[1]); import hook; hook.main()"
_LAUNCH_POST = "import sys; sys.path.append(sys.argv[1]); from bot.agent.hook_post import main; main()"


def command() -> str:
    """The pre-tool hook's command line, for the shell that agents run their hooks in; it needs no packages."""
    return shlex.join([str(base_python()), "-I", "-S", "-c", _LAUNCH, str(Path(hook.__file__).parent), _MARK])


def post_command() -> str:
    """The command line of the hook that notes failures; it has site packages, for the rules that read errors."""
    return shlex.join([sys.executable, "-I", "-c", _LAUNCH_POST, str(PACKAGE.parent), _MARK])


def registrations() -> dict[str, dict[str, Any]]:
    """Each event and the group that it gets in an agent's settings.

    Failures come as `PostToolUseFailure`; agents that know only `PostToolUse` tell there how a command ended."""
    before = {"type": "command", "command": command(), "timeout": TIMEOUT_S}
    after = {"type": "command", "command": post_command(), "timeout": POST_TIMEOUT_S}
    return {
        "PreToolUse": {"matcher": MATCHER, "hooks": [before]},
        "PostToolUse": {"matcher": "Bash", "hooks": [after]},
        "PostToolUseFailure": {"matcher": MATCHER, "hooks": [after]},
    }


def install(directory: Path) -> Path:
    """Register the hooks in `directory`/.claude/settings.json and give that file's path; safe to repeat.

    Everything else in the file stays; older entries of ours are replaced. A missing directory, or settings that are
    not what agents read, raise UserError and leave the file as it was."""
    if not directory.is_dir():
        raise UserError(f"{directory}: no such directory; give the one that holds the project or your home")
    path = (directory / ".claude" / "settings.json").resolve()  # a link stays one
    before = _read(path)
    after = merged(before, registrations(), path)
    if after != before:
        write_settings(path, after)
    return path


def merged(settings: dict[str, Any], wanted: Mapping[str, dict[str, Any]], path: Path) -> dict[str, Any]:
    """The settings with each event's group in them, once; `path` is for the words of the UserError where they are
    malformed."""
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise UserError(f'{path}: "hooks" must be an object; mend it, then install again')
    for event, own in wanted.items():
        groups = hooks.get(event, [])
        if not isinstance(groups, list):
            raise UserError(f'{path}: "hooks.{event}" must be a list; mend it, then install again')
        if own in groups and sum(_ours_in(group) for group in groups) == 1:
            continue
        others = [kept for group in groups for kept in _without_ours(group)]
        hooks = {**hooks, event: [*others, own]}
    return {**settings, "hooks": hooks}


def _commands(group: Any) -> list[Any]:
    found = group.get("hooks") if isinstance(group, dict) else None
    return found if isinstance(found, list) else []


def _is_ours(entry: Any) -> bool:
    text = entry.get("command") if isinstance(entry, dict) else None
    return isinstance(text, str) and any(mark in text for mark in (_MARK, "hook pre-tool", "hook post-tool"))


def _ours_in(group: Any) -> int:
    return sum(_is_ours(entry) for entry in _commands(group))


def _without_ours(group: Any) -> list[Any]:
    """The group without our entries; no group where nothing else was in it."""
    if not _ours_in(group):
        return [group]
    others = [entry for entry in _commands(group) if not _is_ours(entry)]
    return [{**group, "hooks": others}] if others else []


def _read(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8'}") from error
    if not text.strip():
        return {}
    try:
        settings = json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(
            f"{path}: not valid JSON (line {error.lineno}: {error.msg}); mend it, then install again"
        ) from error
    except RecursionError as error:
        raise UserError(f"{path}: nested too deeply to be settings") from error
    if not isinstance(settings, dict):
        raise UserError(f"{path}: must hold a JSON object; mend it, then install again")
    return settings


def write_settings(path: Path, settings: Mapping[str, Any]) -> None:
    """Replace the file in one step, so that an agent never reads half of it; its mode stays."""
    text = json.dumps(settings, indent=2, ensure_ascii=False) + "\n"
    try:
        path.parent.mkdir(exist_ok=True)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".settings-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).chmod(mode)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink()
            raise
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from error
