"""The MCP server in this process, with the official client: bad input, faults, texts that are no Unicode."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import TextContent

from bot.config import Settings
from bot.mcp import tools
from bot.mcp.places import Places
from bot.mcp.server import build_server
from bot.mcp.tools import Services
from bot.reports.format.redact import Redactor

RUN = "run_checks"
MANAGE = "manage_worktree"
RECORD = "record_resolution"
NOWHERE = [
    (["here"], "/etc"),
    (["here"], "TMP/hereby"),
    (["here"], "TMP/here/../other"),
    (["here"], "TMP/here/link/passwd"),
    (["here"], "here"),
    ([], "TMP/here"),
]
SECRET = "a-secret-of-this-process-0123456789"


def client(home: Path, roots: Sequence[Path] | None = None) -> Client:
    return Client(build_server(Services(Settings(home=home), Redactor([SECRET]), Places(roots))))


async def failure(client: Client, name: str, arguments: dict[str, Any]) -> str:
    """The text of a call that was refused."""
    result = await client.call_tool(name, arguments)
    assert result.is_error
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        (RUN, {"worktree_path": "/nowhere/at/all", "checks": ["test"]}, "Worktree not found"),
        (RUN, {"worktree_path": "relative", "checks": ["test"]}, "relative"),
        (RUN, {"worktree_path": "/", "checks": []}, "check"),
        (RUN, {"worktree_path": "/" + "x" * 300, "checks": ["test"]}, "Worktree not found"),
        (RUN, {"worktree_path": "/x\0", "checks": ["test"]}, "Worktree not found"),
        (RUN, {"worktree_path": "/", "checks": ["fly"]}, "checks.0: Input should be 'test', 'typecheck' or 'lint'"),
        (RUN, {"worktree_path": "/", "checks": ["test"], "max_attempts": 4}, "4"),
        (RUN, {"worktree_path": "/", "checks": ["test"], "max_attempts": "3"}, "max_attempts: "),
        (RUN, {"worktree_path": "/"}, "checks: Field required"),
        (RUN, {"worktree_path": "/", "checks": ["test"], "shell": "x"}, "shell: Extra inputs are not permitted"),
        (MANAGE, {"action": "destroy"}, "action: Input should be"),
        (MANAGE, {"action": "create"}, "issue"),
        (MANAGE, {"action": "create", "issues": [0]}, "0"),
        (MANAGE, {"action": "create", "issues": [True]}, "issues.0: Input should be a valid integer"),
        (MANAGE, {"action": "create", "issues": [1], "branch_name": "-x"}, "-x"),
        (MANAGE, {"action": "list", "repo": "/nowhere/at/all"}, "/nowhere/at/all"),
        ("group_issues", {"issues": [{"title": "no number"}], "group_by": "file"}, "number"),
        ("group_issues", {"issues": [], "group_by": "file", "max_group_size": 0}, "0"),
        ("error_history", {}, "give either file or error"),
        ("error_history", {"file": "a", "error": "b"}, "give either file or error"),
        ("error_history", {"file": "src/"}, "not of a directory"),
        ("error_history", {"error": " \n"}, "error has no text"),
        (RECORD, {"error": "\t", "how": "so"}, "error has no text"),
        (RECORD, {"error": "E", "how": " "}, "how: String should match pattern"),
        (RECORD, {"error": "E", "how": "so", "commit": "HEAD"}, "commit: String should match pattern"),
    ],
)
async def test_bad_input_is_an_error_of_the_tool(tmp_path: Path, name: str, arguments: Any, problem: str) -> None:
    """REQ-MCP-003."""
    async with client(tmp_path) as session:
        assert problem in await failure(session, name, arguments)
    assert list(tmp_path.iterdir()) == []


async def test_an_unknown_tool_is_an_error_of_the_protocol(tmp_path: Path) -> None:
    """REQ-MCP-003."""
    async with client(tmp_path) as session:
        with pytest.raises(MCPError, match="there is no tool rm: the tools are manage_worktree"):
            await session.call_tool("rm", {})


async def test_an_empty_history_is_no_error(tmp_path: Path) -> None:
    async with client(tmp_path) as session:
        result = await session.call_tool("error_history", {"error": "E1"})
    assert (result.is_error, result.structured_content) == (False, {"errors": []})


async def test_a_secret_is_masked_before_it_is_stored(tmp_path: Path) -> None:
    """REQ-MCP-001."""
    async with client(tmp_path) as session:
        await session.call_tool(
            RECORD, {"error": f"Error: login of {SECRET}", "how": f"no {SECRET}", "files": ["a.py"]}
        )
        found = (await session.call_tool("error_history", {"file": "a.py"})).structured_content
    assert found is not None
    assert len(found["errors"]) == 1
    assert SECRET not in str(found)


async def test_a_fault_of_ours_has_its_traceback_in_the_log_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def broken(*_: object) -> None:
        raise ZeroDivisionError("private")

    tool = tools.Tool("x", tools.GroupIssues, tools.Groups, broken)  # type: ignore[arg-type]
    monkeypatch.setitem(tools.TOOLS, "group_issues", tool)  # type: ignore[misc]
    async with client(tmp_path) as session:
        text = await failure(session, "group_issues", {"issues": [], "group_by": "file"})
    assert text == "this is a fault of Mendbot; its log has the traceback"
    assert "ZeroDivisionError: private" in capsys.readouterr().err


async def test_half_a_surrogate_pair_does_not_end_the_session(tmp_path: Path) -> None:
    async with client(tmp_path) as session:
        issues = [{"number": 1, "title": "x", "body": "see src/\ud83d.py", "labels": []}]
        result = await session.call_tool("group_issues", {"issues": issues, "group_by": "file"})
        assert not result.is_error
        assert (await session.list_tools()).tools


@pytest.mark.parametrize(("roots", "path"), NOWHERE)
async def test_a_path_outside_of_the_roots_is_refused(tmp_path: Path, roots: Sequence[str], path: str) -> None:
    """REQ-MCP-004: over HTTP tools work in the workspace roots only."""
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "link").symlink_to("/etc")
    allowed, wanted = [tmp_path / root for root in roots], path.replace("TMP", str(tmp_path))
    async with client(tmp_path / "home", allowed) as session:
        assert "workspace root" in await failure(session, RUN, {"worktree_path": wanted, "checks": ["test"]})
        listed = await failure(session, MANAGE, {"action": "list", "repo": wanted})
        assert "workspace root" in listed
        beside = {"action": "create", "issues": [1], "repo": str(tmp_path / "here"), "base": wanted}
        assert "workspace root" in await failure(session, MANAGE, beside)


async def test_over_http_a_repository_must_be_named(tmp_path: Path) -> None:
    """REQ-MCP-004: the server's working directory is nothing that a client knows."""
    async with client(tmp_path / "home", [tmp_path]) as session:
        assert "repo is missing" in await failure(session, MANAGE, {"action": "list"})
