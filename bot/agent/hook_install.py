"""Puts the hooks into a coding agent's settings, beside whatever stands there already.

They call an absolute interpreter; the pre-tool hook without site packages, as an agent waits for it before each tool,
and imports the hook's compiled copy. Where that is gone it exits 1; a script that cannot be opened would exit 2, which
tells an agent to block the tool (code.claude.com/docs/en/hooks)."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
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
FOLDER = ".claude"
LOCAL, SHARED = "settings.local.json", "settings.json"
_MARK = "mendbot-hook"
_OURS = re.compile(rf"{_MARK}|(?:-m bot|mendbot) hook (?:pre|post)-tool")
"""In every command line that any version wrote, and in those that people write by themselves for our hooks."""
_INDENT = re.compile(r'\n([ \t]+)"')
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

    Failures come as `PostToolUseFailure`; agents that know only `PostToolUse` report there how a command ended."""
    before = {"type": "command", "command": command(), "timeout": TIMEOUT_S}
    after = {"type": "command", "command": post_command(), "timeout": POST_TIMEOUT_S}
    return {
        "PreToolUse": {"matcher": MATCHER, "hooks": [before]},
        "PostToolUse": {"matcher": "Bash", "hooks": [after]},
        "PostToolUseFailure": {"matcher": MATCHER, "hooks": [after]},
    }


def settings_path(directory: Path) -> Path:
    """The file that gets the hooks: a project's own user's `settings.local.json`, which teams do not commit, and in the
    user's home `settings.json`, the only file that is read from there (code.claude.com/docs/en/settings)."""
    return _settings(directory, SHARED if _is_home(directory) else LOCAL)


def install(directory: Path) -> Path:
    """Register the hooks in the local settings of `directory` and give that file's path; safe to repeat.

    Everything else in the file stays; older entries of ours are replaced. A missing directory, or settings that are
    not what agents read, raise UserError and leave the file as it was."""
    _demand(directory)
    path = settings_path(directory)
    text = _text(path)
    before = _parsed(path, text)
    after = merged(before, registrations(), path)
    if after != before:
        write_settings(path, after, like=text)
    return path


def older_installation(directory: Path) -> Path | None:
    """The shared settings of `directory` where an earlier version wrote the hooks into them; None where it did not.

    Raises UserError where they have hooks of ours and cannot be read."""
    path = _settings(directory, SHARED)
    found = None if _is_home(directory) else _with_ours(path)
    return None if found is None else path


def uninstall(directory: Path) -> tuple[Path, ...]:
    """Remove from `directory` what `install` wrote, also as an earlier version into the shared settings; the files that
    had it. A file that holds nothing else is removed, and its directory where that is empty then.

    All are read before one is written: a missing directory, or a file with hooks of ours that is no JSON, raises
    UserError and leaves everything as it was."""
    _demand(directory)
    paths = dict.fromkeys(_settings(directory, name) for name in (LOCAL, SHARED))
    found = {path: text for path in paths if (text := _with_ours(path)) is not None}
    wanted = {path: without_ours(_parsed(path, text)) for path, text in found.items()}
    folder = (directory / FOLDER).resolve()
    for path, settings in wanted.items():
        if settings or path.parent != folder:  # what a link leads to is emptied at most
            write_settings(path, settings, like=found[path])
        else:
            _remove(path)
    if wanted:
        _remove_empty(directory / FOLDER)
    return tuple(wanted)


def _demand(directory: Path) -> None:
    if not directory.is_dir():
        raise UserError(f"{directory}: no such directory; give the one that holds the project or your home")


def _settings(directory: Path, name: str) -> Path:
    return (directory / FOLDER / name).resolve()  # a link stays one


def _is_home(directory: Path) -> bool:
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path's own raises for a user without one
    return directory.resolve() == home.resolve()


def _with_ours(path: Path) -> str | None:
    """The file's text where entries of ours stand in it. A file that does not name us need not be valid."""
    text = _text(path)
    if not _OURS.search(text):
        return None
    settings = _parsed(path, text)
    return None if without_ours(settings) == settings else text


def merged(settings: dict[str, Any], wanted: Mapping[str, dict[str, Any]], path: Path) -> dict[str, Any]:
    """The settings with each event's group in them, once; `path` is for the words of the UserError where they are
    malformed."""
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise UserError(f'{path}: "hooks" must be an object; correct it and repeat the command')
    for event, own in wanted.items():
        groups = hooks.get(event, [])
        if not isinstance(groups, list):
            raise UserError(f'{path}: "hooks.{event}" must be a list; correct it and repeat the command')
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
    return isinstance(text, str) and _OURS.search(text) is not None


def _ours_in(group: Any) -> int:
    return sum(_is_ours(entry) for entry in _commands(group))


def _without_ours(group: Any) -> list[Any]:
    """The group without our entries; no group where nothing else was in it."""
    if not _ours_in(group):
        return [group]
    others = [entry for entry in _commands(group) if not _is_ours(entry)]
    return [{**group, "hooks": others}] if others else []


def without_ours(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings without any entry of ours, and without the groups and events that held nothing else."""
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict):
        return settings
    kept: dict[str, Any] = {}
    for event, groups in hooks.items():
        ours = isinstance(groups, list) and any(map(_ours_in, groups))
        left = [kept_group for group in groups for kept_group in _without_ours(group)] if ours else groups
        if left or not ours:
            kept[event] = left
    if kept == hooks:
        return settings
    return {**settings, "hooks": kept} if kept else {key: settings[key] for key in settings if key != "hooks"}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8'}") from error


def _parsed(path: Path, text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        settings = json.loads(text, object_pairs_hook=partial(_once, path))
    except json.JSONDecodeError as error:
        raise UserError(
            f"{path}: not valid JSON (line {error.lineno}: {error.msg}); correct it (JSON has no comments) and repeat "
            "the command"
        ) from error
    except RecursionError as error:
        raise UserError(f"{path}: nested too deeply to be settings") from error
    if not isinstance(settings, dict):
        raise UserError(f"{path}: must hold a JSON object; correct it and repeat the command")
    return settings


def _once(path: Path, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object's keys and values; of a key that stands there twice one would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise UserError(f'{path}: the key "{twice}" occurs twice in one object; remove one and repeat the command')
    return found


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise UserError(f"{path}: cannot be removed: {error.strerror}") from error


def _remove_empty(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
        folder.rmdir()


def write_settings(path: Path, settings: Mapping[str, Any], *, like: str = "") -> None:
    """Replace the file in one step, so that an agent never reads half of it; its mode stays, and so does the
    indentation of `like`, its text of before."""
    indent = _INDENT.search(like)
    end = "" if like and not like.endswith("\n") else "\n"
    text = json.dumps(settings, indent=indent[1] if indent else 2, ensure_ascii=False) + end
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
