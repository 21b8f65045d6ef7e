"""Sessions that ask for several changes at each attempt, in a person's own tree, where they work in place."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from tests.e2e.server import Server
from tests.e2e.session_faces import TOKEN, Client, fix, sleepers, until
from tests.e2e.session_projects import IS_42, LONG, PLAIN, Doc, of_type, photograph, shell, write

LARGE = shell("printf '42\\n' >answer.txt; printf 'a\\nb\\n' >notes")
SMALL = shell("printf '42\\n' >answer.txt")
BAD = shell("printf '43\\n' >answer.txt; echo >litter")
NONE = shell("exit 3")


def asked_of(tree: Path, *agents: str, **more: object) -> Doc:
    asked = {"repo": str(tree), "task": "The answer is 42.", "validationCommands": [IS_42], "agents": list(agents)}
    return {**asked, "candidates": len(agents), **more}


def test_the_best_of_several_changes_stays_in_the_tree(tmp_path: Path) -> None:
    """REQ-RUN-010: by `mendbot fix --candidates`; nothing of the others is left, neither before nor after it."""
    tree = write(tmp_path / "tree", PLAIN)
    code, told = fix(asked_of(tree, LARGE, NONE, SMALL, BAD), tmp_path / "home")
    assert (code, told["status"], told["iteration"]) == (0, "success", 1), told.get("stopReason")
    (chosen,) = of_type(told, "candidate_chosen")
    results = chosen["data"]["results"]
    assert [one["result"] for one in results] == ["passed", "none", "passed", "failed"]
    assert chosen["data"]["winner"] == 3
    assert photograph(tree).keys() == {*PLAIN}
    assert (tree / "answer.txt").read_text() == "42\n"
    assert told["changedPaths"] == ["answer.txt"]
    (change,) = of_type(told, "changes_applied")
    assert Path(change["data"]["diffPath"]).read_text().count("+42") == 1
    assert all((Path(told["artifactsPath"]) / one["diff"]).is_file() for one in results if one.get("diff"))


def test_killed_among_candidates_it_does_not_ask_again_who_has_answered(
    serve: Callable[..., Server], tmp_path: Path
) -> None:
    """REQ-RUN-007, REQ-RUN-010: `kill -9` while the second works; the first is not asked a second time."""
    client = Client(serve(MENDBOT_WORKSPACE_ROOTS=str(tmp_path), MENDBOT_ADMIN_TOKEN=TOKEN))
    tree = write(tmp_path / "tree", {**PLAIN, ".gitignore": "calls\n"})
    calls = shlex.quote(str(tree / "calls"))
    first = shell(f"echo first >>{calls}; printf '42\\n' >answer.txt; echo >notes")
    second = shell(f"echo second >>{calls}; [ -e go ] || {{ echo >half; sleep {LONG}; }}; printf '42\\n' >answer.txt")
    session = client.start(asked_of(tree, first, second))
    until(lambda: sleepers() == 1)
    client.bot.kill()
    until(lambda: sleepers() == 0)
    assert (tree / "half").exists()
    client.bot.start()
    until(lambda: sleepers() == 1)
    assert (tree / "calls").read_text().split() == ["first", "second", "second"]
    client.ask("POST", f"/api/sessions/{session}/cancel")
    assert client.ended(session)["status"] == "cancelled"
    assert photograph(tree).keys() == {*PLAIN, ".gitignore", "calls"}
