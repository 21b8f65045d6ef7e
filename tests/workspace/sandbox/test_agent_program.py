"""Whether the sandbox shows an agent's program is found out in the sandbox, and what is said leads to success."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from bot.config import Settings
from bot.reports.locale.reasons import english
from bot.workspace.sandbox.agent_program import operator_grant, program_problem, resolved_argv
from bot.workspace.sandbox.sandbox import Sandbox, open_sandbox


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    found = asyncio.run(open_sandbox("bubblewrap", ()))
    assert found.level == "bubblewrap", found.describe()
    return found


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree").mkdir()
    return tmp_path / "tree"


def program(path: Path, text: str = "#!/bin/sh\nexit 0\n", mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


async def problem(
    sandbox: Sandbox, tree: Path, *argv: str, binds: tuple[Path, ...] = (), env: tuple[str, ...] = ()
) -> str | None:
    settings = Settings(agent_binds=binds, agent_env=env)
    found = await program_problem(argv, tree, sandbox, settings)
    return None if found is None else english(found)


def advised(said: str | None) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The values that an error says to set."""
    assert said is not None
    found: Mapping[str, str] = dict(re.findall(r"(MENDBOT_AGENT_\w+)=(\S+)", said))
    binds = tuple(map(Path, found["MENDBOT_AGENT_BINDS"].split(os.pathsep)))
    return binds, tuple(found.get("MENDBOT_AGENT_ENV", "").split(",")) if "MENDBOT_AGENT_ENV" in found else ()


async def test_a_program_that_the_sandbox_shows_is_no_problem(sandbox: Sandbox, tree: Path) -> None:
    program(tree / "own")
    for argv in (("true",), ("/bin/sh", "-c", "x"), ("./own",), ("{worktree}/own",), (str(tree / "own"),)):
        assert await problem(sandbox, tree, *argv) is None


@pytest.mark.parametrize("name", ["no-such-agent", "./no-such-agent", "/opt/no/such/agent"])
async def test_a_program_that_is_nowhere_is_not_found(sandbox: Sandbox, tree: Path, name: str) -> None:
    said = await problem(sandbox, tree, name)
    assert said == f"the agent's program `{name}` was not found: install it, or give its absolute path"


@pytest.mark.parametrize("place", ["opt/x/bin/x", "home/.local/bin/x", "scripts/x"])
async def test_a_program_outside_is_named_with_the_setting_that_grants_it(
    sandbox: Sandbox, tree: Path, tmp_path: Path, place: str
) -> None:
    path = program(tmp_path / place)
    said = await problem(sandbox, tree, str(path))
    assert said is not None and f"exists at {path}, but the sandbox does not show it: set " in said
    binds, env = advised(said)
    assert env == ()
    assert all(path.is_relative_to(bind) and tmp_path in bind.parents for bind in binds)
    assert await problem(sandbox, tree, str(path), binds=binds) is None


async def test_a_name_on_the_users_path_becomes_a_path(
    sandbox: Sandbox, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = program(tmp_path / ".local" / "bin" / "my-agent")
    monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")
    binds, _ = advised(await problem(sandbox, tree, "my-agent"))
    assert binds == (path,)
    assert await problem(sandbox, tree, "my-agent", binds=binds) is None
    assert resolved_argv(("my-agent", "-x"), sandbox) == (str(path), "-x")
    assert resolved_argv(("sh", "-x"), sandbox) == ("sh", "-x")


async def test_a_single_script_is_granted_without_its_directory(sandbox: Sandbox, tree: Path, tmp_path: Path) -> None:
    """The directory may hold secrets; a program that is no script needs the files of its installation."""
    script = program(tmp_path / "work" / "agent.sh")
    assert advised(await problem(sandbox, tree, str(script)))[0] == (script,)
    other = program(tmp_path / "tool" / "agent", "\x7fELF")
    assert advised(await problem(sandbox, tree, str(other)))[0] == (other.parent,)


async def test_what_a_link_leads_to_is_granted_too(sandbox: Sandbox, tree: Path, tmp_path: Path) -> None:
    real = program(tmp_path / ".local" / "share" / "agent" / "versions" / "1.0")
    link = tmp_path / ".local" / "bin" / "agent"
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    binds, _ = advised(await problem(sandbox, tree, str(link), binds=(tree,)))
    assert binds == (tree, link, real)
    assert await problem(sandbox, tree, str(link), binds=binds) is None


async def test_a_script_whose_interpreter_is_not_shown(
    sandbox: Sandbox, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = program(tmp_path / "nvm" / "v1" / "bin" / "nod", "#!/bin/sh\nexit 0\n")
    monkeypatch.setenv("PATH", f"{node.parent}:{os.environ['PATH']}")
    for number, line in enumerate(("#!/usr/bin/env nod", "#!/usr/bin/env -S nod --x", f"#!{node}")):
        script = program(tmp_path / f"agents-{number}" / "agent", f"{line}\n")
        said = await problem(sandbox, tree, str(script), binds=(script.parent,))
        assert said is not None and f"which runs `{script}`, exists at {node}" in said
        binds, env = advised(said)
        assert binds == (script.parent, node.parent.parent)
        assert env == (("PATH",) if number < 2 else ())
        assert await problem(sandbox, tree, str(script), binds=binds, env=env) is None


async def test_a_script_that_is_given_to_an_interpreter(sandbox: Sandbox, tree: Path, tmp_path: Path) -> None:
    script = program(tmp_path / "agents" / "agent.py", "print()\n", mode=0o644)
    said = await problem(sandbox, tree, "sh", "-e", str(script))
    assert said is not None and said.startswith(f"`{script}` exists at ")
    binds, _ = advised(said)
    assert binds == (script,)
    assert await problem(sandbox, tree, "sh", "-e", str(script), binds=binds) is None


async def test_what_else_may_be_wrong_is_named(
    sandbox: Sandbox, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = program(tree / "plain", mode=0o644)
    assert f"run `chmod +x {plain}`" in str(await problem(sandbox, tree, str(plain)))
    program(tmp_path / "elsewhere" / "x")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert f"but agents start in {tree}: give its absolute path" in str(await problem(sandbox, tree, "./x"))
    gone = tmp_path / "gone"
    assert await problem(sandbox, tree, "true", binds=(gone,)) == (
        f"MENDBOT_AGENT_BINDS: {gone} does not exist: correct or remove it"
    )


async def test_without_a_sandbox_only_what_is_nowhere_is_a_problem(tree: Path, tmp_path: Path) -> None:
    bare = await open_sandbox("none", ())
    assert await problem(bare, tree, str(program(tmp_path / "opt" / "x"))) is None
    assert "was not found" in str(await problem(bare, tree, "no-such-agent"))


def test_what_the_operator_lends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MODEL_KEY", "secret")
    grant = operator_grant(Settings(agent_env=("MODEL_KEY", "NOT_SET"), agent_binds=(tmp_path,), agent_network=True))
    assert (grant.env, grant.read_only, grant.network) == ({"MODEL_KEY": "secret"}, (tmp_path,), True)
