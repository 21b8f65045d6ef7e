"""`scripts/setup-agents`: it installs the pinned coding agents once, and says which registry cannot be reached."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = Path("tests", "e2e", "agents", "programs")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A directory with the script and the pins, and with an environment whose npm and Python only note their calls."""
    clone = tmp_path / "clone"
    (clone / "scripts").mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "setup-agents", clone / "scripts")
    shutil.copytree(ROOT / PROGRAMS, clone / PROGRAMS)
    own = clone / ".venv" / "bin"
    own.mkdir(parents=True)
    note = f'#!/bin/sh\necho "${{0##*/}} $*" >> {tmp_path}/calls\n'
    (own / "npm").write_text(f'{note}[ ! -e {tmp_path}/no-npm ] && mkdir -p "$3/node_modules/.bin"\n')
    pip = f"#!/bin/sh\n[ ! -e {tmp_path}/no-pypi ]\n"
    venv = f"mkdir -p $3/bin; printf '%s' '{pip}' > $3/bin/python; chmod +x $3/bin/python"
    (own / "python").write_text(f'{note}[ "$2" != venv ] || {{ {venv}; }}\n')
    for program in own.iterdir():
        program.chmod(0o755)
    return clone


def install(clone: Path, target: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(clone / "scripts" / "setup-agents"), str(target)], capture_output=True, text=True, check=False
    )


def test_programs_that_are_there_are_not_fetched_again(clone: Path, tmp_path: Path) -> None:
    target = tmp_path / "programs"
    assert install(clone, target).returncode == 0
    calls = (tmp_path / "calls").read_text()
    assert "npm install" in calls and (target / "node_modules" / ".bin" / "aider").is_symlink()
    again = install(clone, target)
    assert (again.returncode, again.stderr, (tmp_path / "calls").read_text()) == (0, "", calls)
    pins = json.loads((clone / PROGRAMS / "package.json").read_text())
    (clone / PROGRAMS / "package.json").write_text(json.dumps({**pins, "dependencies": {}}))
    assert install(clone, target).returncode == 0
    assert len((tmp_path / "calls").read_text()) > len(calls)


@pytest.mark.parametrize(("missing", "registry"), [("no-npm", "npm registry"), ("no-pypi", "Python registry")])
def test_a_registry_out_of_reach_fails_in_one_sentence(
    clone: Path, tmp_path: Path, missing: str, registry: str
) -> None:
    (tmp_path / missing).touch()
    done = install(clone, tmp_path / "programs")
    assert done.returncode == 1
    assert f"could not be fetched from the {registry}" in done.stderr.splitlines()[-1]
    (tmp_path / missing).unlink()
    assert install(clone, tmp_path / "programs").returncode == 0
