"""The scripts that complete commands are ones that their shells can read."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from bot.cli import main


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_names_the_commands_and_can_be_read(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "worktree" in script and "--max-attempts" in script.replace("'max-attempts'", "--max-attempts")
    if (program := shutil.which(shell)) is not None:
        subprocess.run([program, "-n"], input=script.encode(), check=True, timeout=60)


def test_an_unknown_shell_is_bad_input() -> None:
    assert main(["completion", "cmd"]) == 2
