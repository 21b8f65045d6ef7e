"""Which Node.js a command gets: the machine's own, a program of the shell here, or the one that Mendbot brings."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bot.model import ShellCommand
from bot.model.setups import WantedProgram
from bot.workspace.sandbox.check_tools import Tools
from bot.workspace.sandbox.sandbox import open_sandbox
from tests.machine import PATIENCE_S
from tests.workspace.real_projects import sources

MACHINES = "v20.1.0"


def programs(place: Path, *names: str, version: str = MACHINES) -> Path:
    (place / "bin").mkdir(parents=True)
    for name in names:
        (place / "bin" / name).write_text(f"#!/bin/sh\necho {version}\n")
        (place / "bin" / name).chmod(0o755)
    return place


async def node_in(
    tree: Path, *toolchains: Path, wanted: tuple[WantedProgram, ...] = (), home: Path | None = None
) -> str:
    """What `node --version` says of a command in the tree."""
    sandbox = await open_sandbox("none", toolchains, Tools(home=home))
    command = ShellCommand(run="node --version", timeout_s=PATIENCE_S, programs=wanted)
    return (await sandbox.run(command, tree)).output.decode().strip()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = programs(tmp_path / "machine", "node", "npm")
    monkeypatch.setenv("PATH", f"{place / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin")
    return place


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"package.json": "{}"},
        {"package.json": json.dumps({"engines": {"node": ">=18"}})},
        {"package.json": json.dumps({"engines": {"node": "^14 || ^20.0.0"}})},
        {"package.json": json.dumps({"engines": {"node": "no range"}})},
        {"package.json": json.dumps({"engines": {"node": ">=900"}})},
        {"package.json": json.dumps({"volta": {"node": "20.9.1"}, "engines": {"node": ">=20"}})},
        {"package.json": json.dumps({"engines": {"node": "1||" * 100_000 + ">=22"}})},
        {".nvmrc": "v20\n"},
        {".nvmrc": "lts/iron\n"},
    ],
)
async def test_a_project_gets_the_machines_node_where_that_fits(
    tmp_path: Path, machine: Path, files: dict[str, str]
) -> None:
    assert await node_in(sources(tmp_path / "tree", {"a": "", **files})) == MACHINES


@pytest.mark.parametrize(
    "files",
    [
        {"package.json": json.dumps({"engines": {"node": ">=22.12"}})},
        {"package.json": json.dumps({"engines": {"node": "<20 || >20.1"}})},
        {".node-version": "24.1.0\n"},
    ],
)
async def test_a_project_that_needs_another_gets_mendbots(tmp_path: Path, machine: Path, files: dict[str, str]) -> None:
    assert (await node_in(sources(tmp_path / "tree", files))).startswith("v24.")


async def test_a_machine_without_npm_has_no_node_of_its_own(
    tmp_path: Path, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "bin" / "npm").unlink()
    (machine / "bin" / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(machine / "bin"))
    assert (await node_in(sources(tmp_path / "tree", {"a": ""}))).startswith("v24.")


async def test_the_operators_node_comes_before_all(tmp_path: Path, machine: Path) -> None:
    chain = programs(tmp_path / "chain", "node", version="v8.0.0")
    tree = sources(tmp_path / "tree", {"package.json": json.dumps({"engines": {"node": ">=22"}})})
    assert await node_in(tree, chain) == "v8.0.0"


async def test_a_fetched_program_that_needs_a_newer_node_gets_it(tmp_path: Path, machine: Path) -> None:
    place = programs(tmp_path / "home" / "programs" / "pnpm-12.0.0", "pnpm")
    sources(place, {"node_modules/pnpm/package.json": json.dumps({"engines": {"node": ">=22"}})})
    wanted = (WantedProgram(name="pnpm", version="12.0.0"),)
    assert (await node_in(sources(tmp_path / "tree", {"a": ""}), wanted=wanted, home=tmp_path / "home")).startswith(
        "v24."
    )
