"""A program's installation is found from PATH through links, whichever way it was installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.workspace.sandbox.program_files import ProgramFiles, find_program


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of links to programs, and the whole PATH."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path / "bin"


def test_a_package_of_npm_is_shown_with_what_was_installed_beside_it_and_its_node(path: Path, tmp_path: Path) -> None:
    modules = tmp_path / "node-20" / "lib" / "node_modules"
    script = program(modules / "@vendor" / "tool" / "cli.js", "#!/usr/bin/env -S node --no-warnings\n")
    node = program(tmp_path / "node-20" / "bin" / "node", "\x7fELF")
    (path / "tool").symlink_to(script)
    (path / "node").symlink_to(node)
    assert find_program("tool") == ProgramFiles(
        (str(node), "--no-warnings", str(script)), (modules, tmp_path / "node-20")
    )


def test_a_single_file_is_shown_alone(path: Path, tmp_path: Path) -> None:
    """As the native installers leave it: a link into a directory of versions, or the file itself."""
    file = program(tmp_path / ".local" / "share" / "tool" / "versions" / "2.1", "\x7fELF")
    (path / "tool").symlink_to(file)
    assert find_program("tool") == ProgramFiles((str(file),), (file.parent,))


def test_a_virtual_environment_is_shown_with_its_python(path: Path, tmp_path: Path) -> None:
    python = program(tmp_path / "python-3.12" / "bin" / "python3.12", "\x7fELF")
    environment = tmp_path / "tools" / "tool"
    script = program(environment / "bin" / "tool", f"#!{environment}/bin/python\n")
    (environment / "bin" / "python").symlink_to(python)
    (environment / "pyvenv.cfg").touch()
    (path / "tool").symlink_to(script)
    assert find_program("tool") == ProgramFiles((str(script),), (environment, tmp_path / "python-3.12"))


def test_what_the_system_has_is_shown_anyway(path: Path) -> None:
    (path / "tool").symlink_to("/usr/bin/env")
    assert find_program("tool") == ProgramFiles((str(Path("/usr/bin/env").resolve()),), ())


def test_a_program_that_is_not_there_is_none(path: Path) -> None:
    assert find_program("tool") is None
