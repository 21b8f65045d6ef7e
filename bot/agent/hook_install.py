"""Puts the pre-tool hook into a coding agent's settings, beside whatever stands there already.

It calls an absolute interpreter without site packages, as an agent waits for it before each tool, and imports the
hook's compiled copy. Where that is gone it exits 1; a script that cannot be opened would exit 2, which tells an agent
to block the tool (docs.claude.com/en/docs/claude-code/hooks)."""

from __future__ import annotations

import json
import os
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

from bot.agent import hook
from bot.errors import UserError

MATCHER = "Edit|Write|Bash|Task"
TIMEOUT_S = 2
_MARK = "mendbot-hook"
_LAUNCH = "import sys; sys.path.append(sys.argv[1]); import hook; hook.main()"


def command() -> str:
    """The hook's command line, for the shell that agents run their hooks in."""
    return shlex.join([sys.executable, "-I", "-S", "-c", _LAUNCH, str(Path(hook.__file__).parent), _MARK])


def install(directory: Path) -> Path:
    """Register the hook in `directory`/.claude/settings.json and give that file's path; safe to repeat.

    Everything else in the file stays; an older entry of ours is replaced. A missing directory, or settings that are
    not what agents read, raise UserError and leave the file as it was."""
    if not directory.is_dir():
        raise UserError(f"{directory}: no such directory; give the one that holds the project or your home")
    path = (directory / ".claude" / "settings.json").resolve()  # a link stays one
    before = _read(path)
    after = merged(before, command(), path)
    if after != before:
        _write(path, after)
    return path


def merged(settings: dict[str, Any], command_line: str, path: Path) -> dict[str, Any]:
    """The settings with the hook in them, once; `path` is for the words of the UserError where they are malformed."""
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise UserError(f'{path}: "hooks" must be an object; mend it, then install again')
    groups = hooks.get("PreToolUse", [])
    if not isinstance(groups, list):
        raise UserError(f'{path}: "hooks.PreToolUse" must be a list; mend it, then install again')
    entry = {"type": "command", "command": command_line, "timeout": TIMEOUT_S}
    own = {"matcher": MATCHER, "hooks": [entry]}
    if own in groups and sum(_ours_in(group) for group in groups) == 1:
        return settings
    others = [kept for group in groups for kept in _without_ours(group)]
    return {**settings, "hooks": {**hooks, "PreToolUse": [*others, own]}}


def _commands(group: Any) -> list[Any]:
    found = group.get("hooks") if isinstance(group, dict) else None
    return found if isinstance(found, list) else []


def _is_ours(entry: Any) -> bool:
    text = entry.get("command") if isinstance(entry, dict) else None
    return isinstance(text, str) and (_MARK in text or "hook pre-tool" in text)


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


def _write(path: Path, settings: dict[str, Any]) -> None:
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
