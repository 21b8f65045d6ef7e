"""What a command agent's hook needs in the box, in a directory outside the tree: settings, a snapshot, a spool.
The box may read it all and write the spool alone, which is read as a stranger's (threats.md, Rulings)."""

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
from bot.agent.hook_post import MOST_LINE, MOST_SPOOL
from bot.model import Language
from bot.rules.failures.log_lines import plain

MOST_ERRORS = 500
"""Tool errors that are believed of one attempt, the latest ones."""
_MOST_FIELD = 200


@dataclass(frozen=True, slots=True)
class ToolError:
    """A tool use that failed, as the box reports it: untrusted, without control characters, not yet masked.

    `error` is the line that names the error, `raw` what was printed, of several lines; no field but `raw` and `ts` is
    empty."""

    tool: str
    error: str
    session_id: str
    raw: str = ""
    ts: str = ""


@dataclass(frozen=True, slots=True)
class Kit:
    """A run's kit at `root`, as `make_kit` leaves it; whoever holds the history writes its snapshot to `database`."""

    root: Path
    language: Language = "en"

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
        """What the agent and so its hooks receive; an empty URL lets the home decide which database is read."""
        return {
            "MENDBOT_HOME": str(self.root),
            "MENDBOT_DATABASE_URL": "",
            "MENDBOT_LANGUAGE": self.language,
            "MENDBOT_HOOK_SETTINGS": str(self.settings),
        }

    @property
    def read_only(self) -> tuple[Path, ...]:
        """The kit, the bot's own code, which the hooks are, and the environment in which the post-tool hook runs.

        Agents alone get that environment, and it is on no path: a check never sees it."""
        return (self.root, PACKAGE, Path(sys.prefix))

    @property
    def writable(self) -> tuple[Path, ...]:
        return (self.spool,)

    def take(self) -> tuple[ToolError, ...]:
        """What the spool reports; it is empty afterwards. What cannot be read reports nothing."""
        errors = read_spool(self.spool)
        _fresh(self.spool)
        return errors


def make_kit(root: Path, *, language: Language = "en") -> Kit:
    """The kit at `root` (absolute, outside every tree), made or healed; safe to repeat before each attempt.

    A spool that an attempt left behind stays, so that it can still be taken; whatever else stands in its place goes.
    Raises OSError where the directory cannot be made, UserError where the settings cannot be written."""
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    kit = Kit(root, language)
    if not kit.spool.is_file() or kit.spool.is_symlink():
        _fresh(kit.spool)
    settings = {"hooks": {event: [group] for event, group in registrations().items()}}
    write_settings(kit.settings, settings)
    return kit


def remove_kit(root: Path) -> None:
    """Away with it, in whatever state it is; one that is not there is fine."""
    shutil.rmtree(root, ignore_errors=True)


def read_spool(path: Path) -> tuple[ToolError, ...]:
    """The tool errors in a spool, oldest first, at most MOST_ERRORS of its last megabyte; never raises.

    A link, a pipe or a directory in its place, a line that is broken, too long or of another shape: each reports
    nothing."""
    try:
        content = hook.tail(str(path), MOST_SPOOL)
    except OSError:
        return ()
    lines = content.rstrip(b"\n").split(b"\n")[-MOST_ERRORS:]
    return tuple(error for line in lines if (error := _read_line(line)) is not None)


def _read_line(line: bytes) -> ToolError | None:
    if not line or len(line) > MOST_LINE:
        return None
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return None  # broken JSON, or bytes that are no text
    if not isinstance(said, dict):
        return None
    tool, error, session = (_field(said, name) for name in ("tool", "error", "session_id"))
    if not (tool and error and session):
        return None
    return ToolError(tool, error, session, raw=_clean(said.get("errorRaw")), ts=_field(said, "ts"))


def _clean(value: Any) -> str:
    text = value if isinstance(value, str) else ""
    return plain(text.encode("utf-8", "replace").decode())


def _field(said: Mapping[str, Any], name: str) -> str:
    """One line of it, cut."""
    return " ".join(_clean(said.get(name)).split())[:_MOST_FIELD].strip()


def _fresh(spool: Path) -> None:
    """An empty file of ours at that path, in place of whatever stands there; nothing is followed or opened."""
    fresh = spool.with_suffix(".fresh")
    if fresh.is_dir() and not fresh.is_symlink():
        shutil.rmtree(fresh)
    else:
        fresh.unlink(missing_ok=True)
    fresh.touch(mode=0o600, exist_ok=False)
    if spool.is_dir() and not spool.is_symlink():
        shutil.rmtree(spool)
    fresh.replace(spool)
