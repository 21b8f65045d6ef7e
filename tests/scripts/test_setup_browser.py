"""`scripts/setup-browser`: it installs Chromium only where all is to be tested, and fails only there."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "setup-browser"


def run(path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    for name in ("sh", "id"):
        (path / name).symlink_to(f"/usr/bin/{name}" if Path(f"/usr/bin/{name}").exists() else f"/bin/{name}")
    known = {"PATH": str(path), **environment}
    return subprocess.run([str(path / "sh"), str(SCRIPT)], env=known, capture_output=True, text=True, check=False)


def test_a_chromium_that_is_there_is_enough(tmp_path: Path) -> None:
    (tmp_path / "chromium").write_text("#!/bin/sh\n")
    (tmp_path / "chromium").chmod(0o755)
    done = run(tmp_path, MENDBOT_TEST_ALL="1")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("everything", "code"), [("", 0), ("1", 1)])
def test_without_one_and_without_apt_only_ci_fails(tmp_path: Path, everything: str, code: int) -> None:
    done = run(tmp_path, MENDBOT_TEST_ALL=everything)
    assert done.returncode == code and "package manager" in done.stderr


@pytest.mark.parametrize("failing", [False, True])
def test_apt_is_asked_only_where_everything_is_to_be_tested(tmp_path: Path, failing: bool) -> None:
    if os.geteuid() != 0:
        pytest.skip("apt-get is asked by root alone")
    asked = tmp_path / "asked"
    (tmp_path / "apt-get").write_text(f'#!/bin/sh\necho "$@" >> {asked}\nexit {int(failing)}\n')
    (tmp_path / "apt-get").chmod(0o755)
    path = tmp_path / "quiet"
    path.mkdir()
    (path / "apt-get").symlink_to(tmp_path / "apt-get")
    done = run(path)
    assert done.returncode == 0 and "apt-get install chromium" in done.stderr and not asked.exists()
    again = tmp_path / "all"
    again.mkdir()
    (again / "apt-get").symlink_to(tmp_path / "apt-get")
    assert run(again, MENDBOT_TEST_ALL="1").returncode == int(failing)
    assert "chromium" in asked.read_text()
