"""Chooses between the machine's Node.js and Mendbot's: the one that fits what the project declares.
A project that declares nothing gets the machine's, as it does when its authors run its scripts there."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from semantic_version import NpmSpec, Version

from bot import proc
from bot.workspace.files.project_files import Project

_ASK_S = 20.0
_MAX_RANGE_LENGTH = 200
"""Characters: reading a longer one, which anybody may write, would hold up the event loop."""
_PINNED = re.compile(r"\s*v?(\d+(?:\.\d+){0,2})\s*")
_versions: dict[tuple[str, int], Version | None] = {}
"""The version of each Node that was asked, by its path and the time of its last change."""


async def machine_node_fits(path: Sequence[str], ours: Path, project: Project, programs: Sequence[Path]) -> bool:
    """Whether the command gets the Node on `path`, directories of the machine, and not the one below `ours`.

    It needs npm beside it. `programs` are directories of fetched programs, which may need a newer Node."""
    places = os.pathsep.join(path)
    theirs = shutil.which("node", path=places)
    if theirs is None or shutil.which("npm", path=places) is None:
        return False
    declared = tuple(_declared(project, programs))
    if not declared:
        return True
    version, other = await _version(Path(theirs)), await _version(ours / "bin" / "node")
    if version is None or other is None:
        return version is not None
    return _fits(version, declared) or not _fits(other, declared)


def _declared(project: Project, programs: Sequence[Path]) -> Iterator[str]:
    """The ranges of versions that project and programs declare, as npm writes them; of a pin the major alone."""
    pins = project.upwards()
    for each in pins:
        for text in (each.text(".nvmrc"), each.text(".node-version"), each.package().volta.node):
            if text and (pinned := _PINNED.fullmatch(text)):
                yield pinned[1].partition(".")[0]
    manifests = (each for place in programs for each in sorted((place / "node_modules").glob("*/package.json")))
    ranges = (each.package().engines.node for each in (*pins, *(Project(each.parent) for each in manifests)))
    yield from (wanted for wanted in ranges if 0 < len(wanted) <= _MAX_RANGE_LENGTH)


def _fits(version: Version, declared: Sequence[str]) -> bool:
    for text in declared:
        try:
            if not NpmSpec(text).match(version):
                return False
        except ValueError:  # npm itself only warns of a range that it cannot read
            continue
    return True


async def _version(node: Path) -> Version | None:
    """What the program reports of itself; None where it does not run."""
    try:
        key = (str(node), node.stat().st_mtime_ns)
    except OSError:
        return None
    if key not in _versions:
        done = await proc.run((str(node), "--version"), cwd=Path("/"), env={}, timeout_s=_ASK_S)
        found = _PINNED.fullmatch(done.output.decode("ascii", "replace")) if done.exit_code == 0 else None
        _versions[key] = Version(found[1]) if found else None
    return _versions[key]
