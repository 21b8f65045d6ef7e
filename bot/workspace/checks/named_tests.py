"""Asks a test runner for the names of its tests, beside the check and without any effect on its result.
pytest alone can be asked by variables; what other runners print is read as it comes (REQ-STOP-006)."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bot.rules.test_results.listed_tests import read_listener
from bot.rules.test_results.suite_result import SuiteResult, joined
from bot.workspace.checks.report_files import MAX_REPORT_BYTES
from bot.workspace.checks.step import StepRun
from bot.workspace.files.nofollow import read_or_none
from bot.workspace.files.remove_tree import remove_directory
from bot.workspace.sandbox.bubblewrap import SandboxGrant

_PLUGIN = "mendbot_test_names"
_SOURCE = Path(__file__).parent / "listener" / f"{_PLUGIN}.py"
_LIST = "names.jsonl"
_UNWELCOME = re.compile(rf"importing plugin .?{_PLUGIN}|No module named .?{_PLUGIN}|{_PLUGIN}\.py")
"""What a log holds where the plugin could not be loaded, or failed."""


@dataclass(frozen=True, slots=True)
class NamesAsked:
    """One execution of a check that is asked for names. `where` is outside the tree and the check may write to it."""

    where: Path

    def granted(self, grant: SandboxGrant) -> SandboxGrant:
        """The grant with what makes pytest list its tests, and run them although some files cannot be collected: their
        errors are failures of their own, and hide no other. Other programs take no notice of it."""
        paths = [str(self.where), *filter(None, [grant.env.get("PYTHONPATH")])]
        options = [f"-p {_PLUGIN}", *filter(None, [grant.env.get("PYTEST_ADDOPTS")])]
        asked = {
            "PYTHONPATH": os.pathsep.join(paths),
            "PYTEST_ADDOPTS": " ".join(options),
            "MENDBOT_TEST_NAMES": str(self.where / _LIST),
        }
        return replace(grant, env={**grant.env, **asked}, writable=(*grant.writable, self.where))

    def unwelcome(self, log: str) -> bool:
        """Whether the check shows signs that asking did it harm, so that it has to run again unasked."""
        return _UNWELCOME.search(log) is not None

    def answer(self, run: StepRun, mask: Callable[[str], str]) -> SuiteResult | None:
        """The tests of the execution that has ended: those of its own report, else those that were listed, with what
        other runners printed; None where nothing names or counts any."""
        if run.reported_tests.outcomes:
            return run.reported_tests
        listed = read_listener(mask(self._listed()))
        printed = run.parsed.tests.result(without_pytest=bool(listed.outcomes))
        return joined([listed, *filter(None, [printed])])

    def _listed(self) -> str:
        return (read_or_none(self.where, _LIST, limit=MAX_REPORT_BYTES) or b"").decode("utf-8", "replace")


@asynccontextmanager
async def asking(directory: Path) -> AsyncIterator[NamesAsked]:
    """To be entered before the command runs; `directory` is the bot's own, made where it is missing."""
    where = directory / f".names-{secrets.token_hex(4)}"
    where.mkdir(parents=True, mode=0o700)
    try:
        (where / _SOURCE.name).write_bytes(_SOURCE.read_bytes())
        yield NamesAsked(where)
    finally:
        await remove_directory(where)
