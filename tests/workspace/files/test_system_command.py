"""What a program of the system did not do is a reason in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.errors import Transient
from bot.reports.locale.reasons import english
from bot.workspace.files.system_command import copy, run_system_command


async def test_a_program_that_ends_well_has_no_reason(tmp_path: Path) -> None:
    assert await run_system_command("touch", "--", str(tmp_path / "new"), timeout_s=10) is None
    assert (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (("rm", "--", "/nowhere/at/all"), "rm failed: rm: "),
        (("no-such-program",), "no-such-program failed: No such file or directory"),
        (("sh", "-c", "exit 3"), "sh failed: it gave no reason"),
        (("sleep", "9"), "sleep did not end within 0 seconds"),
    ],
)
async def test_the_reason_is_one_line(argv: tuple[str, ...], reason: str) -> None:
    found = english(await run_system_command(*argv, timeout_s=0.2 if argv[0] == "sleep" else 10))
    assert found.startswith(reason) and "\n" not in found


async def test_what_cannot_be_copied_may_be_tried_later(tmp_path: Path) -> None:
    with pytest.raises(Transient, match="cp failed"):
        await copy(tmp_path / "missing", tmp_path / "to")
