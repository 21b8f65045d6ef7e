"""`mendbot hook install` as a process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import mendbot


def test_hook_install_writes_the_local_settings_once_and_undoes_it(repo: Path) -> None:
    for _ in range(2):
        done = mendbot("hook", "install", str(repo))
        assert (done.returncode, done.stderr) == (0, "")
        assert "git does not ignore settings.local.json here" in done.stdout
    settings = json.loads((repo / ".claude" / "settings.local.json").read_text())
    assert [entry["matcher"] for entry in settings["hooks"]["PreToolUse"]] == ["Edit|Write|Bash|Task"]
    (repo / ".git" / "info" / "exclude").write_text("settings.local.json\n")
    assert "git does not ignore" not in mendbot("hook", "install", str(repo)).stdout
    undone = mendbot("hook", "install", str(repo), "--undo")
    removed = repo / ".claude" / "settings.local.json"
    assert (undone.returncode, undone.stdout) == (0, f"removed the hook from {removed}\n")
    assert not (repo / ".claude").exists()
    again = mendbot("hook", "install", str(repo), "--undo")
    assert (again.returncode, again.stdout.startswith("nothing to undo")) == (0, True)


def test_hook_install_outside_of_a_repository_says_so(tmp_path: Path, repo: Path) -> None:
    assert "is in no git repository" not in mendbot("hook", "install", str(repo)).stdout
    (repo / "below").mkdir()
    assert "is in no git repository" not in mendbot("hook", "install", str(repo / "below")).stdout
    (outside := tmp_path / "outside").mkdir()
    done = mendbot("hook", "install", str(outside))
    assert (done.returncode, f"{outside} is in no git repository" in done.stdout) == (0, True)


def test_hook_install_names_what_an_earlier_version_wrote(tmp_path: Path) -> None:
    shared = tmp_path / ".claude" / "settings.json"
    shared.parent.mkdir()
    old = {"type": "command", "command": "/old/python -m bot hook pre-tool"}
    shared.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [old]}]}}))
    done = mendbot("hook", "install", str(tmp_path))
    assert f"an earlier version wrote it into {shared} too" in done.stdout
    assert mendbot("hook", "install", str(tmp_path), "--undo").returncode == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("undo", [(), ("--undo",)])
def test_hook_install_refuses_what_is_no_directory_or_no_json(tmp_path: Path, undo: tuple[str, ...]) -> None:
    assert mendbot("hook", "install", str(tmp_path / "nowhere"), *undo).returncode == 2
    settings = tmp_path / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text("{ // mendbot-hook")
    done = mendbot("hook", "install", str(tmp_path), *undo)
    assert (done.returncode, "JSON has no comments" in done.stderr) == (2, True)
    assert settings.read_text() == "{ // mendbot-hook"
