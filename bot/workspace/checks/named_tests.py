"""Makes a test runner list its tests during a check, without an effect on the check's result, or run only some.

Only pytest can be asked by variables; the output of other runners is parsed as it is (REQ-STOP-006)."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bot.rules.test_results.listed_tests import read_listener, read_selected
from bot.rules.test_results.suite_result import SuiteResult, joined
from bot.workspace.checks.report_files import MAX_REPORT_BYTES
from bot.workspace.checks.step import StepRun
from bot.workspace.files.nofollow import read_or_none
from bot.workspace.files.remove_tree import remove_directory
from bot.workspace.sandbox.bubblewrap import SandboxGrant

_PLUGIN = "mendbot_test_names"
_SOURCE = Path(__file__).parent / "listener" / f"{_PLUGIN}.py"
_LIST = "names.jsonl"
_SELECTION = "selection.json"
_DISTURBED = re.compile(rf"importing plugin .?{_PLUGIN}|No module named .?{_PLUGIN}|{_PLUGIN}\.py")
"""Matches a log in which the plugin could not be loaded, or failed."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The tests that pytest shall run: by their names, as any list of it or its log names them, or by their files."""

    names: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()

    def json(self) -> str:
        """The file that the plugin reads."""
        return json.dumps({"names": self.names, "files": list(map(str, self.files))})


@dataclass(frozen=True, slots=True)
class NamesAsked:
    """One execution of a check that lists its tests in `where`, a writable directory outside the tree.

    With a `selection` pytest runs only those tests; other programs ignore it."""

    where: Path
    selection: Selection | None = None

    def granted(self, grant: SandboxGrant) -> SandboxGrant:
        """The grant with the variables that make pytest list its tests; other programs ignore them.

        With them pytest runs tests although some files cannot be collected: those errors are failures of their own."""
        paths = [str(self.where), *filter(None, [grant.env.get("PYTHONPATH")])]
        options = [f"-p {_PLUGIN}", *filter(None, [grant.env.get("PYTEST_ADDOPTS")])]
        asked = {
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTEST_ADDOPTS": " ".join(options),
            "MENDBOT_TEST_NAMES": str(self.where / _LIST),
        }
        if self.selection is not None:
            asked["MENDBOT_TEST_SELECTION"] = str(self.where / _SELECTION)
        return replace(grant, env={**grant.env, **asked}, writable=(*grant.writable, self.where))

    def disturbed(self, log: str) -> bool:
        """Whether the listing may have changed the check's result, so that it has to run again without."""
        return _DISTURBED.search(log) is not None

    def answer(self, run: StepRun, mask: Callable[[str], str]) -> SuiteResult | None:
        """The tests of the execution that has ended; None if nothing names or counts any.

        They come from its own report, else from the list and the output of other runners."""
        if run.reported_tests.outcomes:
            return run.reported_tests
        listed = read_listener(mask(self._listed()))
        printed = run.parsed.tests.result(without_pytest=bool(listed.outcomes))
        return joined([listed, *filter(None, [printed])])

    def selected(self) -> int | None:
        """The number of tests that pytest selected; None where it did not come so far, or no pytest was asked."""
        return read_selected(self._listed())

    def _listed(self) -> str:
        return (read_or_none(self.where, _LIST, limit=MAX_REPORT_BYTES) or b"").decode("utf-8", "replace")


@asynccontextmanager
async def asking(directory: Path, selection: Selection | None = None) -> AsyncIterator[NamesAsked]:
    """Prepares the listing before the command runs; `directory` is the bot's own, created if missing."""
    where = directory / f".names-{secrets.token_hex(4)}"
    where.mkdir(parents=True, mode=0o700)
    try:
        (where / _SOURCE.name).write_bytes(_SOURCE.read_bytes())
        if selection is not None:
            (where / _SELECTION).write_text(selection.json(), encoding="utf-8")
        yield NamesAsked(where, selection)
    finally:
        await remove_directory(where)
