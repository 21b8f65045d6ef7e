"""`mendbot init` writes a configuration that is valid, and never over one that is there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.cli import main
from tests.cli.commands import git


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Node project in a repository, without a configuration."""
    scripts = {"test": "node --test", "lint": 'eslint "src/**"'}
    (tmp_path / "package.json").write_text(json.dumps({"name": "p", "scripts": scripts}))
    (tmp_path / "package-lock.json").write_text(json.dumps({"name": "p", "lockfileVersion": 3, "packages": {}}))
    (tmp_path / "src").mkdir()
    git(tmp_path, "init", "-q", "-b", "main")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("where", [(), ("src",), (".",)])
def test_the_file_is_valid_and_shows_what_was_found(
    project: Path, where: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", *where]) == 0
    text = (project / ".github" / "mendbot.yml").read_text()
    assert "npm run lint" in text and "npm test" in text
    assert str(project / ".github" / "mendbot.yml") in capsys.readouterr().err
    assert main(["config", "check", str(project / ".github" / "mendbot.yml")]) == 0


def test_the_commands_that_were_found_are_valid_once_uncommented(project: Path) -> None:
    assert main(["init"]) == 0
    file = project / ".github" / "mendbot.yml"
    lines = file.read_text().splitlines()
    start = lines.index("# checks:")
    file.write_text(
        "\n".join(line.removeprefix("# ") for line in lines[start:] if "command:" in line or "checks" in line)
    )
    assert main(["config", "check", str(file)]) == 0


def test_a_dry_run_prints_the_file_and_writes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--dry-run"]) == 0
    printed = capsys.readouterr().out
    assert not (project / ".github").exists()
    assert main(["init"]) == 0
    assert (project / ".github" / "mendbot.yml").read_text() == printed


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_file_that_exists_is_left_as_it_is(project: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    file = project / ".github" / "mendbot.yml"
    file.parent.mkdir()
    file.write_text("language: ko\n") if kind == "file" else file.symlink_to(project / "nowhere")
    assert main(["init"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert not (project / "nowhere").exists()
    assert kind == "link" or file.read_text() == "language: ko\n"


def test_a_directory_that_is_missing_is_bad_input(tmp_path: Path) -> None:
    assert main(["init", str(tmp_path / "missing")]) == 2
