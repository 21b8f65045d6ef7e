"""The files of a command agent's hooks in the sandbox: settings, a snapshot of the history, a spool.

They are in a directory outside the worktree. The sandbox can read all of it and write the spool only, which is read as
untrusted input (threats.md, Rulings)."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.agent import hook
from bot.agent.hook_install import PACKAGE, registrations, write_settings
from bot.agent.hook_post import MAX_LINE, MAX_SPOOL
from bot.model import Language
from bot.rules.failures.log_lines import plain

MAX_ERRORS = 500
"""Tool errors that are read of one attempt, the latest ones."""
_MAX_FIELD = 200


@dataclass(frozen=True, slots=True)
class ToolError:
    """A tool use that failed, as the sandbox reports it: untrusted, without control characters, not yet masked.

    `error` is the line that names the error, `raw` all that was printed. Only `raw` and `ts` may be empty."""

    tool: str
    error: str
    session_id: str
    raw: str = ""
    ts: str = ""


@dataclass(frozen=True, slots=True)
class HookBundle:
    """A run's hook files at `root`, as `make_bundle` leaves them; the caller writes the history to `database`."""

    root: Path
    language: Language = "en"
    more_writable: tuple[Path, ...] = ()

    @property
    def database(self) -> Path:
        return self.root / "mendbot.db"

    @property
    def settings(self) -> Path:
        return self.root / "settings.json"

    @property
    def spool(self) -> Path:
        return self.root / hook.SPOOL

    @property
    def env(self) -> Mapping[str, str]:
        """The variables of the agent and its hooks; with an empty URL, the home decides which database is read."""
        return {
            "MENDBOT_HOME": str(self.root),
            "MENDBOT_DATABASE_URL": "",
            "MENDBOT_LANGUAGE": self.language,
            "MENDBOT_HOOK_SETTINGS": str(self.settings),
        }

    @property
    def read_only(self) -> tuple[Path, ...]:
        """The bundle, the bot's code with the hooks, and the environment in which the post-tool hook runs.

        Only agents get that environment, and it is on no path: a check never sees it."""
        return (self.root, PACKAGE, Path(sys.prefix))

    @property
    def writable(self) -> tuple[Path, ...]:
        return (self.spool, *self.more_writable)

    def take_errors(self) -> tuple[ToolError, ...]:
        """The tool errors in the spool, which is empty afterwards; an unreadable spool has none."""
        errors = read_spool(self.spool)
        _empty_spool(self.spool)
        return errors


def make_bundle(
    root: Path,
    *,
    language: Language = "en",
    settings: Mapping[str, Any] | None = None,
    more_writable: tuple[Path, ...] = (),
) -> HookBundle:
    """Creates or repairs the bundle at `root` (absolute, outside every worktree); safe to repeat for each attempt.

    A spool that an attempt left behind stays, so that it can still be read; anything else in its place is removed.
    `settings` are those of a program that has its own form for them. Raises OSError if the directory cannot be created,
    UserError if the settings cannot be written."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    bundle = HookBundle(root, language, more_writable)
    if not bundle.spool.is_file() or bundle.spool.is_symlink():
        _empty_spool(bundle.spool)
    if settings is None:
        settings = {"hooks": {event: [group] for event, group in registrations().items()}}
    write_settings(bundle.settings, settings)
    return bundle


def remove_bundle(root: Path) -> None:
    """Removes the bundle, in whatever state it is; a missing one is fine."""
    shutil.rmtree(root, ignore_errors=True)


def read_spool(path: Path) -> tuple[ToolError, ...]:
    """The tool errors in a spool, oldest first, at most MAX_ERRORS of its last megabyte; never raises.

    A link, a pipe or a directory in its place has none; a line that is broken, too long or of another shape is
    skipped."""
    try:
        content = hook.tail(str(path), MAX_SPOOL)
    except OSError:
        return ()
    lines = content.rstrip(b"\n").split(b"\n")[-MAX_ERRORS:]
    return tuple(error for line in lines if (error := _read_line(line)) is not None)


def _read_line(line: bytes) -> ToolError | None:
    if not line or len(line) > MAX_LINE:
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None  # broken JSON, or bytes that are no text
    if not isinstance(record, dict):
        return None
    tool, error, session = (_field(record, name) for name in ("tool", "error", "session_id"))
    if not (tool and error and session):
        return None
    return ToolError(tool, error, session, raw=_clean(record.get("errorRaw")), ts=_field(record, "ts"))


def _clean(value: Any) -> str:
    text = value if isinstance(value, str) else ""
    return plain(text.encode("utf-8", "replace").decode())


def _field(record: Mapping[str, Any], name: str) -> str:
    """The field's value as one line, cut."""
    return " ".join(_clean(record.get(name)).split())[:_MAX_FIELD].strip()


def _empty_spool(spool: Path) -> None:
    """Puts an empty file of ours at that path, in place of anything there; no link is followed or opened."""
    fresh = spool.with_suffix(".fresh")
    if fresh.is_dir() and not fresh.is_symlink():
        shutil.rmtree(fresh)
    else:
        fresh.unlink(missing_ok=True)
    fresh.touch(mode=0o600, exist_ok=False)
    if spool.is_dir() and not spool.is_symlink():
        shutil.rmtree(spool)
    fresh.replace(spool)
