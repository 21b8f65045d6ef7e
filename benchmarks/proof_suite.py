"""The bench's own runs of a case's tests, in the sandbox that checks have: whether the labels of the changes are true,
and whether a change that Mendbot calls proven has a test that fails without it."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.proof_case import Case, Change, Files, applied, is_test_side
from benchmarks.servers import ROOT
from bot.model import ShellCommand
from bot.proc import base_python
from bot.workspace.sandbox.sandbox import Sandbox, open_sandbox

CACHE = ROOT / ".cache" / "bench" / "proof"
_PACKAGES = ("pytest==8.3.5", "pyyaml")
_TIMEOUT_S = 300.0
_REPEATS = 2


def toolchain() -> Path:
    """A directory whose bin/ has a Python with pytest, as an operator would provide one; made once, through pip."""
    folder = CACHE / "python"
    if not (folder / "ready").exists():
        subprocess.run([str(base_python()), "-m", "venv", "--clear", str(folder)], check=True, capture_output=True)
        argv = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *_PACKAGES]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"pip could not install {', '.join(_PACKAGES)}: {done.stderr[-2000:]}")
        (folder / "ready").touch()
    return folder


def write(tree: Path, files: Files) -> None:
    """Put the files there."""
    for path, text in files.items():
        where = tree / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")


@dataclass(frozen=True)
class Suite:
    """Runs the tests of trees, each in a directory of its own."""

    folder: Path

    @cached_property
    def _sandbox(self) -> Sandbox:
        return asyncio.run(open_sandbox("auto", (self.folder,)))

    def passes(self, command: str, files: Files) -> bool:
        """Whether the command succeeds in a tree of these files."""
        with tempfile.TemporaryDirectory(prefix="mendbot-bench-") as where:
            tree = Path(where)
            write(tree, files)
            run = ShellCommand(run=command, timeout_s=_TIMEOUT_S)
            return asyncio.run(self._sandbox.run(run, tree)).exit_code == 0

    def shows(self, case: Case, change: Change) -> bool:
        """Whether a test fails without the change and passes with it, each time.

        On a green base the change's own tests are put on the base; on a red one the base's tests on the change."""
        tests = change.tests
        code = {path: text for path, text in change.files.items() if path not in tests}
        before, after = applied(case.files, tests), applied(case.files, change.files)
        if case.base == "red":
            before, after = dict(case.files), applied(case.files, code)
        return all(not self.passes(case.command, before) and self.passes(case.command, after) for _ in range(_REPEATS))


def problems(case: Case, suite: Suite) -> list[str]:
    """Labels of the case that are not true: one line each."""
    found = []
    if suite.passes(case.command, case.files) is not (case.base == "green"):
        found.append(f"the base is not {case.base}")
    if hidden_passes(case, Change("nothing", {}), suite):
        found.append("the hidden tests pass on the base")
    for change in case.changes:
        found += [f"{change.kind}: {problem}" for problem in _problems_of(case, change, suite)]
    return found


def _problems_of(case: Case, change: Change, suite: Suite) -> list[str]:
    found = []
    if all(case.files.get(path) == text for path, text in change.files.items()):
        found.append("changes nothing")
    if not suite.passes(case.command, applied(case.files, change.files)):
        found.append("the suite fails with it")
    if hidden_passes(case, change, suite) is not change.right:
        found.append(f"the hidden tests {'fail' if change.right else 'pass'} with it")
    shown = change.misleading or (change.right and change.kind == "right")
    if suite.shows(case, change) is not shown:
        found.append(f"a test {'does not show' if shown else 'shows'} it")
    return found


def hidden_passes(case: Case, change: Change, suite: Suite) -> bool:
    """Whether the hidden tests pass with the change. The change's own tests and settings are left out."""
    code = {path: text for path, text in change.files.items() if not is_test_side(path)}
    names = "" if case.source == "release" else " ".join(sorted(case.hidden))
    return suite.passes(f"{case.command} {names}".strip(), {**applied(case.files, code), **case.hidden})
