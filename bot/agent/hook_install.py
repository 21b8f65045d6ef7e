"""Registers the hooks in a coding agent's settings and leaves all other settings as they are.

The hooks call an absolute interpreter. The pre-tool hook runs without site packages, as an agent waits for it before
each tool, and imports the hook's compiled copy. If that is gone it exits 1; a script that cannot be opened would exit
2, which makes an agent block the tool (code.claude.com/docs/en/hooks)."""

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
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason

MATCHER = "Edit|Write|Bash|Task"
TIMEOUT_S = 2
POST_TIMEOUT_S = 5
PACKAGE = Path(bot.__file__).parent
"""The bot's code, which the hooks import."""
FOLDER = ".claude"
LOCAL, SHARED = "settings.local.json", "settings.json"
_MARK = "mendbot-hook"
_OURS = re.compile(rf"{_MARK}|(?:-m bot|mendbot) hook (?:pre|post)-tool")
"""Matches the command lines that any version wrote, and those that people write for our hooks."""
_INDENT = re.compile(r'\n([ \t]+)"')
_LAUNCH = "import sys; sys.path.append(sys.argv[1]); import hook; hook.main()"
_LAUNCH_POST = "import sys; sys.path.append(sys.argv[1]); from bot.agent.hook_post import main; main()"


def command() -> str:
    """The pre-tool hook's command line, for an agent's shell; it needs no packages."""
    return shlex.join([str(base_python()), "-I", "-S", "-c", _LAUNCH, str(Path(hook.__file__).parent), _MARK])


def post_command() -> str:
    """The command line of the hook that records failures; it has site packages, for the rules that read errors."""
    return shlex.join([sys.executable, "-I", "-c", _LAUNCH_POST, str(PACKAGE.parent), _MARK])


def registrations() -> dict[str, dict[str, Any]]:
    """The hook group of each event in an agent's settings.

    Failures come as `PostToolUseFailure`. Agents that know only `PostToolUse` report there how a command ended."""
    before = {"type": "command", "command": command(), "timeout": TIMEOUT_S}
    after = {"type": "command", "command": post_command(), "timeout": POST_TIMEOUT_S}
    return {
        "PreToolUse": {"matcher": MATCHER, "hooks": [before]},
        "PostToolUse": {"matcher": "Bash", "hooks": [after]},
        "PostToolUseFailure": {"matcher": MATCHER, "hooks": [after]},
    }


def settings_path(directory: Path) -> Path:
    """The settings file for the hooks: a project's `settings.local.json`, which teams do not commit.

    In the user's home it is `settings.json`, the only file read there (code.claude.com/docs/en/settings)."""
    return _settings(directory, SHARED if _is_home(directory) else LOCAL)


def install(directory: Path) -> Path:
    """Registers the hooks in the local settings of `directory` and returns that file's path; safe to repeat.

    Our older entries are replaced; everything else stays. Raises UserError for a missing directory and for malformed
    settings, and then leaves the file as it was."""
    _require_directory(directory)
    path = settings_path(directory)
    text = _text(path)
    before = _parsed(path, text)
    after = merged(before, registrations(), path)
    if after != before:
        write_settings(path, after, like=text)
    return path


def older_installation(directory: Path) -> Path | None:
    """The shared settings of `directory` if an earlier version wrote the hooks into them, else None.

    Raises UserError if they have hooks of ours and cannot be read."""
    path = _settings(directory, SHARED)
    found = None if _is_home(directory) else _with_ours(path)
    return None if found is None else path


def uninstall(directory: Path) -> tuple[Path, ...]:
    """Removes our hooks from the local and the shared settings of `directory`; returns the files that had them.

    A file that holds nothing else is removed, and its directory if that is empty then. All files are read before one is
    written: a missing directory, or a file with our hooks that is no JSON, raises UserError and changes nothing."""
    _require_directory(directory)
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


def _require_directory(directory: Path) -> None:
    if not directory.is_dir():
        raise user_error(make_reason("hook.no_directory", path=str(directory)))


def _settings(directory: Path, name: str) -> Path:
    return (directory / FOLDER / name).resolve()  # a link stays one


def _is_home(directory: Path) -> bool:
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path's own raises for a user without one
    return directory.resolve() == home.resolve()


def _with_ours(path: Path) -> str | None:
    """The file's text if it has entries of ours, else None. A file that does not name us need not be valid."""
    text = _text(path)
    if not _OURS.search(text):
        return None
    settings = _parsed(path, text)
    return None if without_ours(settings) == settings else text


def merged(settings: dict[str, Any], wanted: Mapping[str, dict[str, Any]], path: Path) -> dict[str, Any]:
    """The settings with each event's group in them, once; raises UserError, which names `path`, if malformed."""
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise user_error(make_reason("hook.no_object", path=str(path)))
    for event, own in wanted.items():
        groups = hooks.get(event, [])
        if not isinstance(groups, list):
            raise user_error(make_reason("hook.no_list", path=str(path), event=event))
        if own in groups and sum(_ours_in(group) for group in groups) == 1:
            continue
        others = [other for group in groups for other in _without_ours(group)]
        hooks = {**hooks, event: [*others, own]}
    return {**settings, "hooks": hooks}


def _commands(group: Any) -> list[Any]:
    commands = group.get("hooks") if isinstance(group, dict) else None
    return commands if isinstance(commands, list) else []


def _is_ours(entry: Any) -> bool:
    text = entry.get("command") if isinstance(entry, dict) else None
    return isinstance(text, str) and _OURS.search(text) is not None


def _ours_in(group: Any) -> int:
    return sum(_is_ours(entry) for entry in _commands(group))


def _without_ours(group: Any) -> list[Any]:
    """The group without our entries; no group if it held nothing else."""
    if not _ours_in(group):
        return [group]
    others = [entry for entry in _commands(group) if not _is_ours(entry)]
    return [{**group, "hooks": others}] if others else []


def without_ours(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings without any entry of ours, and without the groups and events that held nothing else."""
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict):
        return settings
    others: dict[str, Any] = {}
    for event, groups in hooks.items():
        ours = isinstance(groups, list) and any(map(_ours_in, groups))
        remaining = [other for group in groups for other in _without_ours(group)] if ours else groups
        if remaining or not ours:
            others[event] = remaining
    if others == hooks:
        return settings
    return {**settings, "hooks": others} if others else {key: settings[key] for key in settings if key != "hooks"}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise user_error(make_reason("hook.not_utf8", path=str(path))) from error
    except OSError as error:
        raise _file_error("unreadable", path, error) from error


def _file_error(kind: str, path: Path, error: OSError) -> UserError:
    return user_error(make_reason(f"hook.{kind}", path=str(path), error=str(error.strerror)))


def _parsed(path: Path, text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    try:
        settings = json.loads(text, object_pairs_hook=partial(_unique_keys, path))
    except json.JSONDecodeError as error:
        raise user_error(make_reason("hook.not_json", path=str(path), line=error.lineno, problem=error.msg)) from error
    except RecursionError as error:
        raise user_error(make_reason("hook.too_deep", path=str(path))) from error
    if not isinstance(settings, dict):
        raise user_error(make_reason("hook.no_settings", path=str(path)))
    return settings


def _unique_keys(path: Path, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object's keys and values; raises UserError for a key that occurs twice, as one value would be lost."""
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise user_error(make_reason("hook.key_twice", path=str(path), key=twice))
    return values


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise _file_error("not_removed", path, error) from error


def _remove_empty(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
        folder.rmdir()


def write_settings(path: Path, settings: Mapping[str, Any], *, like: str = "") -> None:
    """Replaces the file in one step, so that an agent never reads half of it.

    The file's mode stays, and so does the indentation of `like`, its previous text."""
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
        raise _file_error("not_written", path, error) from error
