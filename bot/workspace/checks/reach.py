"""Measures whether a run of tests executes what a change altered (`rules.reach`).

Probes are started with each Python and Node process of the run: a module that Python imports by itself, and V8's own
coverage. They need nothing of the project's environment, and are no part of it."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from bot.model.reasons import Reason
from bot.rules.reach.reach import ChangedCode, Reach, reach_of
from bot.rules.reach.reports import (
    MAX_COVERAGE_BYTES,
    MAX_COVERAGE_FILES,
    MAX_REPORT_BYTES,
    Reports,
    Script,
    read_coverage,
    read_reports,
)
from bot.rules.reasons import make_reason
from bot.workspace.checks.step import StepRun
from bot.workspace.files.nofollow import read_or_none
from bot.workspace.files.remove_tree import remove_directory
from bot.workspace.sandbox.bubblewrap import SandboxGrant

_PROBES = Path(__file__).parent / "reach_probe"
_PYTHON, _NODE = "sitecustomize.py", "started.cjs"


@dataclass(frozen=True, slots=True)
class ReachAsked:
    """A run in `tree` whose processes report what they execute to `where`, a writable directory outside the tree."""

    where: Path
    tree: Path
    code: tuple[ChangedCode, ...]
    linked: str = ""
    """A changed file that is a link or lies behind one, so that what runs has another name; "" if there is none."""

    def granted(self, grant: SandboxGrant) -> SandboxGrant:
        """The grant with the variables that start the probes."""
        paths = [str(self.where), *filter(None, [grant.env.get("PYTHONPATH")])]
        asked = {"MENDBOT_REACH": str(self.where), "PYTHONPATH": os.pathsep.join(paths)}
        if self._needs_node():
            options = [*filter(None, [grant.env.get("NODE_OPTIONS")]), f'--require="{self.where / _NODE}"']
            asked |= {"NODE_V8_COVERAGE": str(self.where / "v8"), "NODE_OPTIONS": " ".join(options)}
        return replace(grant, env={**grant.env, **asked}, writable=(*grant.writable, self.where))

    async def answer(self, run: StepRun) -> Reach:
        """What the run that has ended shows."""
        if run.step.cut_short or run.step.exit_code is None or run.step.could_not_run is not None:
            return Reach(not_used=make_reason("reach.cut_short"))
        return await asyncio.to_thread(self._answer)

    def _answer(self) -> Reach:
        if self.linked:
            return Reach(not_used=make_reason("reach.other_file", path=self.linked))
        python, node, found = self._reports("python.jsonl"), self._reports("node.jsonl"), self._scripts()
        for part in (python, node, found):
            if isinstance(part, Reason):
                return Reach(not_used=part)
        assert isinstance(python, Reports) and isinstance(node, Reports) and not isinstance(found, Reason)
        counts, scripts = found
        begun = Counter(number for number, _ in node.processes)
        elsewhere = any(place != str(self.where / "v8") for _, place in node.processes)
        if elsewhere or any(counts[number] < count for number, count in begun.items()):
            return Reach(not_used=make_reason("reach.lost"))
        return reach_of(self.code, python, node, scripts, os.path.realpath(self.tree))

    def _needs_node(self) -> bool:
        """Whether a process of Node may run or read what changed."""
        return any(file.language != "python" for file in self.code)

    def _reports(self, name: str) -> Reports | Reason:
        if not os.path.lexists(self.where / name):
            return Reports()
        content = read_or_none(self.where, name, limit=MAX_REPORT_BYTES)
        if content is None:
            return make_reason("reach.malformed")
        return read_reports(content.decode("utf-8", "replace"))

    def _scripts(self) -> tuple[Counter[int], list[Script]] | Reason:
        """How many coverage files each process has written, and the scripts of them all."""
        counts: Counter[int] = Counter()
        found: list[Script] = []
        left = MAX_COVERAGE_BYTES
        probe = os.path.realpath(self.where / _NODE)  # Node names a file by what its links lead to
        try:
            with os.scandir(self.where / "v8") as entries:
                names = [entry.name for entry in islice(entries, MAX_COVERAGE_FILES + 1)]
        except OSError:
            return make_reason("reach.malformed")
        if len(names) > MAX_COVERAGE_FILES:
            return make_reason("reach.malformed")
        for name in names:
            content = read_or_none(self.where, f"v8/{name}", limit=left)
            scripts = read_coverage(content) if content is not None else None
            number = name.split("-")[1] if name.startswith("coverage-") else ""
            if content is None or scripts is None or not number.isdecimal():
                return make_reason("reach.malformed")
            left -= len(content)
            counts[int(number)] += 1
            found += (script for script in scripts if script.path != probe)
        return counts, found


def _linked(tree: Path, code: Sequence[ChangedCode]) -> str:
    top = os.path.realpath(tree)
    paths = (file.path for file in code)
    return next((path for path in paths if os.path.realpath(tree / path) != os.path.join(top, path)), "")  # noqa: PTH118


@asynccontextmanager
async def measuring(directory: Path, tree: Path, code: Sequence[ChangedCode]) -> AsyncIterator[ReachAsked]:
    """Prepares the measurement before the tests run; `directory` is the bot's own, created if missing.

    `code` is what `changed_code` returns; `tree` is absolute."""
    where = directory / f".reach-{secrets.token_hex(4)}"
    (where / "v8").mkdir(parents=True, mode=0o700)
    try:
        for name in (_PYTHON, _NODE):
            (where / name).write_bytes((_PROBES / name).read_bytes())
        changed = {
            "tree": str(tree),
            "files": [file.path for file in code],
            "added": [file.path for file in code if file.added],
        }
        (where / "changed.json").write_text(json.dumps(changed), encoding="utf-8")
        yield ReachAsked(where, tree, tuple(code), _linked(tree, code))
    finally:
        await remove_directory(where)
