"""Programs that projects need and machines lack: fetched once as packages, in the pinned version, or named with why."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.config import ChecksPolicy
from bot.model import ShellCommand
from bot.model.setups import WantedProgram
from bot.proc import ProcResult
from bot.rules.test_results.could_not_run import could_not_run
from bot.workspace.detect.detect import detect
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.check_tools import Tools, bundled_node
from bot.workspace.sandbox.fetched_programs import Programs
from bot.workspace.sandbox.sandbox import Sandbox, open_sandbox
from bot.workspace.setup.plan import plan_setup
from tests.machine import PATIENCE_S
from tests.workspace.real_projects import sources

PNPM = WantedProgram(name="pnpm", version="9.15.9")
JUST = WantedProgram(name="just")
NOWHERE = {"npm_config_registry": "http://127.0.0.1:1/", "PIP_INDEX_URL": "http://127.0.0.1:1/simple"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


async def opened(
    home: Path | None, mode: str = "bubblewrap", *, fetch: bool = True, chains: Sequence[Path] = ()
) -> Sandbox:
    return await open_sandbox(mode, chains, Tools(home=home, fetch=fetch))  # type: ignore[arg-type]


async def run(sandbox: Sandbox, tree: Path, line: str | tuple[str, ...], *programs: WantedProgram) -> ProcResult:
    command = ShellCommand(run=line, timeout_s=PATIENCE_S, programs=programs)
    return await sandbox.run(command, tree)


def said(result: ProcResult) -> str:
    assert (result.exit_code, result.spawn_error) == (0, None), result
    return result.output.decode().strip()


@pytest.mark.parametrize("mode", ["bubblewrap", "none"])
async def test_the_pinned_pnpm_is_fetched_and_runs(home: Path, tmp_path: Path, mode: str) -> None:
    sources(tmp_path, {"package.json": json.dumps({"scripts": {"test": "echo $((40 + 2))"}})})
    sandbox = await opened(home, mode)
    assert said(await run(sandbox, tmp_path, "pnpm --version", PNPM)) == "9.15.9"
    assert said(await run(sandbox, tmp_path, ("pnpm", "test"), PNPM)).endswith("42")
    assert (home / "programs" / "pnpm-9.15.9" / "bin" / "pnpm").exists()


async def test_just_comes_from_its_wheel_without_a_pinned_version(home: Path, tmp_path: Path) -> None:
    sources(tmp_path, {"justfile": "test:\n\t@echo from the recipe\n"})
    command = detect(tmp_path, "test", ChecksPolicy())
    assert isinstance(command, ShellCommand)
    assert command.programs == (JUST,)
    assert said(await (await opened(home)).run(command, tmp_path)) == "from the recipe"


async def test_a_program_in_python_runs_where_its_directory_was_moved(home: Path, tmp_path: Path) -> None:
    assert said(await run(await opened(home), tmp_path, "nox --version", WantedProgram(name="nox"))) == "2026.10.20"
    with_python = home / "programs" / "nox-2026.10.20"
    assert [path.name for path in (with_python / "bin").iterdir()] == ["nox"], "no python before the project's own"


async def test_what_is_there_is_neither_fetched_again_nor_lost_without_the_network(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert said(await run(await opened(home), tmp_path, "pnpm --version", PNPM)) == "9.15.9"
    made = (home / "programs" / "pnpm-9.15.9").stat()
    for name, value in NOWHERE.items():
        monkeypatch.setenv(name, value)
    assert said(await run(await opened(home, fetch=False), tmp_path, "pnpm --version", PNPM)) == "9.15.9"
    again = (home / "programs" / "pnpm-9.15.9").stat()
    assert (again.st_ino, again.st_mtime_ns) == (made.st_ino, made.st_mtime_ns)


@pytest.mark.parametrize("line", ["pnpm test", ("pnpm", "test"), ("env", "-C", "sub", "pnpm", "test")])
async def test_where_fetching_is_forbidden_the_missing_program_is_named_with_the_remedy(
    tmp_path: Path, line: str | tuple[str, ...]
) -> None:
    (tmp_path / "tree" / "sub").mkdir(parents=True)
    result = await run(await opened(tmp_path / "home", fetch=False), tmp_path / "tree", line, PNPM)
    assert result.exit_code is None
    assert result.spawn_error == (
        "pnpm is missing: MENDBOT_TOOLS=off forbids fetching it; install it, or name its directory in "
        "MENDBOT_TOOLCHAINS, or set MENDBOT_TOOLS=auto"
    )
    unable = could_not_run("pnpm test", result.exit_code, "", spawn_error=result.spawn_error)
    assert unable is not None and unable.hindrance == "not_started"


async def test_a_fetch_that_fails_says_why_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in NOWHERE.items():
        monkeypatch.setenv(name, value)
    home = tmp_path / "home"
    for wanted in (PNPM, JUST):
        result = await run(await opened(home), tmp_path, (wanted.name, "test"), wanted)
        assert result.exit_code is None
        assert f"{wanted.name} is missing: Mendbot could not fetch {wanted.name} " in (result.spawn_error or "")
        assert "name its directory in MENDBOT_TOOLCHAINS" in (result.spawn_error or "")
    assert [path.name for path in (home / "programs").iterdir() if not path.name.startswith(".")] == []


async def test_a_version_that_does_not_exist_is_named(home: Path, tmp_path: Path) -> None:
    result = await run(await opened(home), tmp_path, "pnpm -v", WantedProgram(name="pnpm", version="9.15.999"))
    assert "could not fetch pnpm 9.15.999 (npm error" in (result.spawn_error or "")


async def test_a_package_with_another_digest_than_the_project_says_is_not_used(home: Path, tmp_path: Path) -> None:
    packed = subprocess.run(
        [bundled_node()[0] / "bin" / "npm", "pack", "pnpm@9.15.9", "--silent"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{bundled_node()[0]}/bin:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    digest = hashlib.sha512((tmp_path / packed.stdout.strip()).read_bytes()).hexdigest()
    right = PNPM.model_copy(update={"digest": f"sha512.{digest}"})
    assert said(await run(await opened(home), tmp_path, "pnpm --version", right)) == "9.15.9"
    wrong = PNPM.model_copy(update={"digest": f"sha512.{digest[:-1]}{'1' if digest[-1] == '0' else '0'}"})
    result = await run(await opened(home), tmp_path, "pnpm --version", wrong)
    assert "its sha512 is" in (result.spawn_error or "") and "`packageManager` says" in (result.spawn_error or "")


async def test_a_program_of_the_operator_is_used_unless_the_project_pins_a_version(home: Path, tmp_path: Path) -> None:
    chain, tree = tmp_path / "chain", tmp_path / "tree"
    tree.mkdir()
    for name in ("pnpm", "just"):
        sources(chain, {f"bin/{name}": "#!/bin/sh\necho the operator\\'s\n"})
        (chain / "bin" / name).chmod(0o755)
    sandbox = await opened(home, chains=[chain])
    assert said(await run(sandbox, tree, "just", JUST)) == "the operator's"
    assert said(await run(sandbox, tree, "pnpm --version", WantedProgram(name="pnpm"))) == "the operator's"
    assert said(await run(sandbox, tree, "pnpm --version", PNPM)) == "9.15.9"
    forbidden = await opened(tmp_path / "other", fetch=False, chains=[chain])
    assert said(await run(forbidden, tree, "pnpm --version", PNPM)) == "the operator's", "better than none"


async def test_a_stand_in_of_corepack_is_no_program(home: Path, tmp_path: Path) -> None:
    chain, tree = tmp_path / "chain", tmp_path / "tree"
    tree.mkdir()
    sources(chain, {"lib/corepack/dist/pnpm.js": "#!/bin/sh\necho corepack\n"})
    (chain / "lib/corepack/dist/pnpm.js").chmod(0o755)
    (chain / "bin").mkdir()
    (chain / "bin" / "pnpm").symlink_to("../lib/corepack/dist/pnpm.js")
    said_version = said(
        await run(await opened(home, chains=[chain]), tree, "pnpm --version", WantedProgram(name="pnpm"))
    )
    assert said_version == "10.34.9"


async def test_two_at_once_fetch_it_once(tmp_path: Path) -> None:
    made = [Programs(tmp_path, allowed=True), Programs(tmp_path, allowed=True)]
    ready = await asyncio.gather(*(each.ready([JUST], lambda _: False) for each in made))
    first, second = [one for each in ready for one in each.directories]
    assert first == second
    assert [path.name for path in (tmp_path / "programs").iterdir() if path.is_dir()] == [first.name]


async def test_with_the_network_no_program_of_the_tree_is_found(tmp_path: Path) -> None:
    sources(tmp_path, {"venv/bin/npm": "#!/bin/sh\necho the tree\\'s\n"})
    (tmp_path / "venv/bin/npm").chmod(0o755)
    sandbox = await opened(None)
    own = ShellCommand(run="npm --version", timeout_s=PATIENCE_S)
    assert said(await sandbox.run(own, tmp_path)) == "the tree's"
    result = await sandbox.run(own, tmp_path, grant=SandboxGrant(network=True, tree_programs=False))
    assert said(result)[0].isdigit()


async def test_with_the_network_home_is_on_disk_and_gone_afterwards(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    sandbox = await opened(tmp_path / "home")
    fill = ShellCommand(
        run="mkdir -p ~/a && head -c 300M /dev/zero > ~/a/big && chmod 0 ~/a && echo done", timeout_s=60
    )
    assert (await run(sandbox, tmp_path / "tree", fill.run)).exit_code != 0, "the small one in memory is full"
    assert said(await sandbox.run(fill, tmp_path / "tree", grant=SandboxGrant(network=True))) == "done"
    assert list((tmp_path / "home" / "scratch").iterdir()) == []


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"Makefile": "test:\n\tuv run pytest\n\npublish:\n\tpoetry publish\n"}, ["uv"]),
        ({"Makefile": "test: build\n\t@cd web && pnpm test; echo yarn\n"}, ["pnpm"]),
        ({"Makefile": "test:\n\t./uv; uv.sh; echo poetry\n"}, []),
        ({"justfile": "test *args:\n    uv run pytest {{args}}\n"}, ["just", "uv"]),
        ({"tox.ini": "[testenv]\ncommands = pytest\n"}, ["tox"]),
        ({"noxfile.py": "import nox\n\n@nox.session\ndef tests(session):\n    pass\n"}, ["nox"]),
        ({"package.json": '{"packageManager": "yarn@3.6.4", "scripts": {"test": "x"}}'}, ["yarn@3.6.4"]),
        ({"package.json": '{"packageManager": "npm@9.0.0", "scripts": {"test": "x"}}'}, []),
        ({"package.json": '{"scripts": {"test": "x"}}', "yarn.lock": "__metadata:\n  version: 6\n"}, ["yarn@3.8.7"]),
        ({"package.json": '{"scripts": {"test": "x"}}', "yarn.lock": "# yarn lockfile v1\n"}, ["yarn@1.22.22"]),
    ],
)
def test_a_detected_command_names_the_programs_that_it_calls(
    tmp_path: Path, files: dict[str, str], wanted: list[str]
) -> None:
    command = detect(sources(tmp_path, files), "test", ChecksPolicy())
    assert isinstance(command, ShellCommand)
    named = [f"{each.name}@{each.version}" if each.version else each.name for each in command.programs]
    assert named == wanted


@pytest.mark.parametrize(
    ("run", "wanted"),
    [
        ("CI=1 pnpm test && just lint", {"pnpm": "9.15.0", "just": ""}),
        (("pnpm", "run", "build"), {"pnpm": "9.15.0"}),
        ("echo pnpm; ./pnpm test", {}),
    ],
)
def test_a_command_that_somebody_wrote_gets_the_programs_that_it_calls(
    tmp_path: Path, run: str | tuple[str, ...], wanted: dict[str, str]
) -> None:
    (tmp_path / "package.json").write_text('{"packageManager": "pnpm@9.15.0"}')
    policy = ChecksPolicy.model_validate({"test": {"command": run}})
    (step,) = plan_setup(tmp_path, configured=run).steps
    command = detect(tmp_path, "test", policy)
    assert isinstance(command, ShellCommand)
    for programs in (step.programs, command.programs):
        assert {one.name: one.version for one in programs} == wanted
