"""scripts/setup.sh says what is missing, does nothing when there is nothing to do, and never calls half a set-up ready.
Real shell, real git, and programs of our own in place of Python and pip, so that each case takes no time."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.machine import PATIENCE_S

SETUP = Path(__file__).parents[2] / "scripts" / "setup.sh"
TOOLS = ("sh", "cat", "chmod", "cp", "dirname", "grep", "head", "mkdir", "rm", "sed", "sort")

PYTHON = """\
#!/bin/sh
echo "$*" >> "{log}"
case "$*" in
  --version) echo Python {version} ;;
  *version_info*) {is_new} ;;
  *ensurepip*) {has_venv} ;;
  "-m venv "*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; echo "command = python3 $*" > "$3/pyvenv.cfg" ;;
  "-m pip "*) {pip} ;;
  "-m bot.workspace.sandbox.check_tools") {tools} ;;
esac
"""


class Machine:
    """A clone with a lock, and a PATH that has only what was put on it."""

    def __init__(self, root: Path) -> None:
        self.clone, self.bin, self.log = root / "clone", root / "bin", root / "log"
        for directory in (self.clone / "scripts", self.bin):
            directory.mkdir(parents=True)
        shutil.copy(SETUP, self.clone / "scripts")
        (self.clone / "requirements.lock").write_text("one==1\n")
        (self.clone / "pyproject.toml").write_text("[project]\n")
        (self.clone / "bot" / "workspace" / "sandbox").mkdir(parents=True)
        (self.clone / "bot" / "workspace" / "sandbox" / "tools.lock").write_text("two==2\n")
        for name in (*TOOLS, "git"):
            (self.bin / name).symlink_to(str(shutil.which(name)))
        self.python()

    def program(self, name: str, text: str) -> None:
        (self.bin / name).unlink(missing_ok=True)
        (self.bin / name).write_text(text)
        (self.bin / name).chmod(0o755)

    def python(
        self, name: str = "python3", *, version: str = "3.12.1", venv: bool = True, new: bool = True, **does: str
    ) -> None:
        words = {True: "exit 0", False: "exit 1"}
        does = {"pip": "true", "tools": "true", **does}
        self.program(
            name, PYTHON.format(log=self.log, version=version, is_new=words[new], has_venv=words[venv], **does)
        )

    def setup(self, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.clone / "scripts" / "setup.sh")],
            cwd="/",
            env={"PATH": str(self.bin), **variables},
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )

    def refuses(self, **variables: str) -> str:
        done = self.setup(**variables)
        assert done.returncode == 1, done
        assert done.stdout == ""
        assert not (self.clone / ".venv" / ".ready").exists()
        return done.stderr

    def asked(self, word: str) -> list[str]:
        """The lines with `word` of what the Pythons were asked since the last time."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return [line for line in lines if word in line]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_fresh_clone_gets_the_pinned_requirements_and_itself(machine: Machine) -> None:
    done = machine.setup()
    assert (done.returncode, done.stdout) == (0, ""), done
    requirements, itself = machine.asked("-m pip")
    assert "--require-hashes -r requirements.lock" in requirements
    assert "--no-deps --no-build-isolation --editable ." in itself
    assert (machine.clone / ".venv" / ".ready").exists()


def test_the_second_time_it_does_nothing_at_once(machine: Machine) -> None:
    machine.setup()
    machine.asked("")
    done = machine.setup()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (asked,) = machine.asked("")  # its version, and nothing that takes time
    assert "version_info" in asked


@pytest.mark.parametrize(
    "file", ["requirements.lock", "pyproject.toml", "scripts/setup.sh", "bot/workspace/sandbox/tools.lock"]
)
def test_what_changed_is_installed_again_into_the_same_environment(machine: Machine, file: str) -> None:
    machine.setup()
    machine.asked("")
    with (machine.clone / file).open("a") as changed:
        changed.write("# changed\n")
    assert machine.setup().returncode == 0
    modules = [line.split()[1] for line in machine.asked("-m")]
    assert modules == ["pip", "pip", "bot.workspace.sandbox.check_tools", "pytest"]


def test_a_clone_that_was_moved_is_set_up_again(machine: Machine) -> None:
    machine.setup()
    machine.clone = machine.clone.rename(machine.clone.with_name("moved"))
    machine.asked("")
    assert machine.setup().returncode == 0
    assert f"-m venv {machine.clone.resolve()}/.venv" in machine.asked("-m venv")


def test_an_environment_whose_python_is_gone_is_made_again(machine: Machine) -> None:
    machine.setup()
    (machine.clone / ".venv" / "bin" / "python").unlink()
    machine.asked("")
    assert machine.setup().returncode == 0
    assert len(machine.asked("-m venv")) == 1


def test_tools_that_could_not_be_fetched_are_shown_and_tried_again(machine: Machine) -> None:
    machine.python(tools='echo "setup: the tools for checks could not be fetched" >&2; exit 1')
    assert "the tools for checks could not be fetched" in machine.refuses()
    shutil.rmtree(machine.clone / ".venv")
    machine.python()
    assert machine.setup().returncode == 0


def test_what_pip_could_not_install_is_shown_and_tried_again(machine: Machine) -> None:
    machine.python(pip='echo "ERROR: HASHES DO NOT MATCH" >&2; exit 1')
    said = machine.refuses()
    assert "ERROR: HASHES DO NOT MATCH\nsetup: the requirements could not be installed" in said
    assert "HASHES" in machine.refuses()
    shutil.rmtree(machine.clone / ".venv")
    machine.python()
    assert machine.setup().returncode == 0


def test_git_is_asked_for_by_name(machine: Machine) -> None:
    (machine.bin / "git").unlink()
    assert machine.refuses() == "setup: git was not found; install it (Debian: apt-get install git) and try again\n"


@pytest.mark.parametrize("version", ["2.20.1", "2.38.5", "1.99"])
def test_an_old_git_is_refused_with_both_numbers(machine: Machine, version: str) -> None:
    machine.program("git", f"#!/bin/sh\necho git version {version}\n")
    short = version.rpartition(".")[0] if version.count(".") > 1 else version
    assert machine.refuses() == f"setup: git {short} is too old; Mendbot needs 2.39 or newer\n"


@pytest.mark.parametrize("version", ["2.39.5", "2.100.0", "3.0.0", "2.39.5 (Apple Git-154)", "2.47.1.windows.1"])
def test_git_versions_count_as_numbers(machine: Machine, version: str) -> None:
    real = (machine.bin / "git").readlink()
    machine.program("git", f'#!/bin/sh\n[ "$1" = --version ] && echo "git version {version}" || exec {real} "$@"\n')
    assert machine.setup().returncode == 0


def test_an_old_python_is_refused_and_named(machine: Machine) -> None:
    machine.python(version="3.9.2", new=False)
    said = machine.refuses()
    assert "Python 3.11 or newer was not found (there is Python 3.9.2); install it, or name one: make PYTHON=" in said


def test_no_python_at_all_is_said(machine: Machine) -> None:
    (machine.bin / "python3").unlink()
    assert "was not found (there is no python3)" in machine.refuses()


def test_a_newer_python_beside_the_old_one_is_found(machine: Machine) -> None:
    machine.python(version="3.9.2", new=False)
    machine.python("python3.13")
    assert machine.setup().returncode == 0


def test_without_the_venv_module_its_package_is_named(machine: Machine) -> None:
    machine.python(venv=False)
    said = machine.refuses()
    assert "python3 cannot make virtual environments; install its venv package (Debian: apt-get install" in said


def test_a_python_that_has_venv_is_preferred(machine: Machine) -> None:
    machine.python(venv=False)
    machine.python("python3.12")
    assert machine.setup().returncode == 0


def test_a_python_that_was_named_is_the_only_one_tried(machine: Machine, tmp_path: Path) -> None:
    machine.python("python3.8", new=False)
    assert machine.refuses(PYTHON="python3.8") == "setup: python3.8 is not Python 3.11 or newer\n"
    assert machine.setup(PYTHON=str(machine.bin / "python3")).returncode == 0
