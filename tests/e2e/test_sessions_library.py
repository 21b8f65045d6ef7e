"""Sessions by the library, `bot.app.local_session.run_session`, in small real projects: how they end where all does
not go well, and what they leave then (spec D)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from bot.app.local_session import FinishedSession, run_session
from bot.config import Settings, load_settings
from bot.model import RunEvent
from bot.reports.locale.reasons import english_json
from bot.rules.runs.session_request import InvalidRequest, parse_request
from bot.web.sessions import artifact_json, session_json
from tests.e2e.session_projects import (
    IS_42,
    PLAIN,
    PYTHON,
    SITUATIONS,
    TASK,
    Doc,
    Situation,
    agent,
    assert_in_order,
    assert_told,
    git,
    of_type,
    photograph,
    put,
    request,
    shell,
    validations,
    write,
)

LIBRARY = [one for one in SITUATIONS if one.name in ("pipeline success", "patch fallback", "validationCommands only")]


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("MENDBOT_HOME", str(tmp_path / "home"))
    return load_settings()


def document(told: FinishedSession) -> Doc:
    return {
        **session_json(told.session),
        "events": english_json([event.as_json() for event in told.events]),
        "artifacts": [artifact_json(artifact) for artifact in told.artifacts],
    }


async def run(settings: Settings, asked: Doc, **more: Any) -> Doc:
    return document(await run_session(settings, request(asked), **more))


def asked_of(tree: Path, *agents: str, most: int = 3, **more: Any) -> Doc:
    return {
        "repo": str(tree),
        "task": TASK,
        "validationCommands": [IS_42],
        "maxAttempts": most,
        "agents": agents,
        **more,
    }


@pytest.mark.parametrize("situation", LIBRARY, ids=[one.name for one in LIBRARY])
async def test_the_situations_of_the_seed(settings: Settings, tmp_path: Path, situation: Situation) -> None:
    """REQ-RUN-003, REQ-RUN-004, REQ-RUN-006, REQ-RUN-007: some of the seed's section 10 by the library."""
    tree = write(tmp_path / "tree", situation.files, commit=situation.commit)
    before = photograph(tree)
    assert_told(await run(settings, situation.asked(tree)), situation, tree, before)


async def test_a_listener_is_told_each_event_in_order(settings: Settings, tmp_path: Path) -> None:
    """REQ-RUN-007: what is told as it happens is what is stored."""
    tree, heard = write(tmp_path / "tree", PLAIN), list[RunEvent]()
    told = await run_session(settings, request(asked_of(tree, agent(put("answer.txt", "42\n")))), on_event=heard.append)
    assert told.events == tuple(heard)


async def test_where_nothing_applies_the_phase_fails_and_the_tree_is_as_before(
    settings: Settings, tmp_path: Path
) -> None:
    """REQ-RUN-003: a change of two of which one fits is not taken at all, and the next attempt is told why."""
    tree = write(tmp_path / "tree", PLAIN)
    before = photograph(tree)
    unfit = {"path": "README", "patch": "--- a/README\n+++ b/README\n@@ -1 +1 @@\n-Nothing like it.\n+New.\n"}
    half = {"changes": [{"path": "answer.txt", "content": "42\n"}, unfit]}
    told = await run(settings, asked_of(tree, agent(half), most=2))
    assert told["status"] == "failed"
    failed = [event for event in of_type(told, "phase_failed") if event["phase"] == "implementation"]
    assert [event["iteration"] for event in failed] == [1, 2]
    assert all(event["data"]["reason"] == "patch_failed" and "README" in event["data"]["message"] for event in failed)
    assert not [event for event in of_type(told, "changes_applied", "validation_command_started") if event["iteration"]]
    assert photograph(tree) == before
    assert_in_order(told)


UNCOMMITTED = {
    "answer.txt": "an edit of mine\n",
    "mine.txt": "not added\n",
    "build/out": "ignored\n",
    "sub/deep": "x\n",
}


@pytest.mark.parametrize("repository", [True, False], ids=["git repository", "plain directory"])
async def test_attempts_used_up_leave_the_tree_as_it_was(settings: Settings, tmp_path: Path, repository: bool) -> None:
    """REQ-RUN-002: what comes after the loop is skipped. Uncommitted and ignored work, the index, HEAD and the branches
    are as they were, and what had been tried is kept as a log."""
    tree = write(tmp_path / "tree", {**PLAIN, ".gitignore": "build/\n"}, commit=repository)
    write(tree, UNCOMMITTED)
    (tree / "link").symlink_to("mine.txt")
    (tree / "first").chmod(0o755)
    if repository:
        git(tree, "branch", "other")
        git(tree, "rm", "-q", "--cached", "later")
        git(tree, "add", "mine.txt")
    before = photograph(tree)
    mess = "echo attempt >> answer.txt; mkdir -p new; date +%N > new/file; rm -rf README sub"
    told = await run(settings, asked_of(tree, shell(mess), most=2, validationCommands=["touch litter; exit 1"]))
    assert (told["status"], told["stopReason"]["reason"], told["iteration"]) == ("failed", "max_iterations", 2)
    assert (told["phases"]["review"], told["phases"]["packaging"]) == ("skipped", "skipped")
    assert photograph(tree) == before
    kept = settings.home / "artifacts" / told["id"] / of_type(told, "session_finished")[0]["data"]["diff"]
    assert "+attempt\n+attempt\n" in kept.read_text()
    assert not (settings.home / "sessions" / told["id"]).exists()


async def test_a_check_that_rewrites_the_tree_changes_nothing_of_what_is_judged_and_left(
    settings: Settings, tmp_path: Path
) -> None:
    """REQ-PROOF-003: the second command judges what was proposed, and that is what stays; what was found in the tree is
    kept, since it may be somebody's edit."""
    tree = write(tmp_path / "tree", PLAIN, commit=True)
    write(tree, {"mine.txt": "not added\n", "README": "an edit of mine\n"})
    rewrites = "echo 43 > answer.txt; echo linted > README; rm mine.txt; touch built"
    told = await run(settings, asked_of(tree, agent(put("answer.txt", "42\n")), validationCommands=[rewrites, IS_42]))
    assert told["status"] == "success"
    assert (tree / "answer.txt").read_text() == "42\n" and (tree / "README").read_text() == "an edit of mine\n"
    assert (tree / "mine.txt").read_text() == "not added\n"
    step = validations(told)[-1]["steps"][0]
    assert step["restored"] == ["README", "answer.txt", "mine.txt"] and step["restoredCount"] == 3
    (kept,) = (settings.home / "artifacts" / told["id"]).glob("found-1-*.diff")
    assert "+linted" in kept.read_text()


async def test_success_leaves_the_change_uncommitted_among_uncommitted_work(settings: Settings, tmp_path: Path) -> None:
    """REQ-RUN-002: a local session's change stays in the tree, for a person to look at and to commit."""
    tree = write(tmp_path / "tree", PLAIN, commit=True)
    write(tree, {"mine.txt": "not added\n", "README": "an edit of mine\n"})
    before = photograph(tree)
    told = await run(settings, asked_of(tree, agent(put("answer.txt", "42\n"))))
    assert (told["status"], told["changedPaths"]) == ("success", ["answer.txt"])
    after = photograph(tree)
    assert {path for path in {*before, *after} if before.get(path) != after.get(path)} == {"answer.txt"}
    assert git(tree, "status", "--porcelain").splitlines() == [" M README", " M answer.txt", "?? mine.txt"]


async def test_the_second_attempt_is_told_what_failed_after_the_first(settings: Settings, tmp_path: Path) -> None:
    """REQ-RUN-008: the previous errors, and the patch that did not help, stand in the next attempt's brief."""
    tree = write(tmp_path / "tree", PLAIN)
    second = {"changes": [{"path": "answer.txt", "content": "42\n"}, {"path": "prompt", "content": "PROMPT"}]}
    told = await run(settings, asked_of(tree, agent(put("answer.txt", "40\n"), second)))
    assert (told["status"], told["iteration"]) == ("success", 2)
    brief = (tree / "prompt").read_text()
    assert "answer.txt:1: error: not 42" in brief.partition("What failed after the attempts so far")[2]
    assert "+40" in brief
    assert TASK in brief


@pytest.mark.parametrize(
    ("name", "spec", "attempts"),
    [
        ("oscillation", shell("grep -q 40 answer.txt && echo 41 >answer.txt || echo 40 >answer.txt"), 2),
        ("nothing_to_offer", agent(put("answer.txt", "40\n")), 2),
        ("nothing_to_offer", shell("exit 0"), 1),
        ("nothing_to_offer", shell("exit 7"), 1),
    ],
    ids=["back to the base", "the same again", "no change", "a failure"],
)
async def test_an_agent_with_nothing_new_ends_the_session(
    settings: Settings, tmp_path: Path, name: str, spec: str, attempts: int
) -> None:
    """REQ-RUN-008, REQ-STOP-006: another attempt would be the same again, so there is none."""
    tree = write(tmp_path / "tree", PLAIN)
    before = photograph(tree)
    told = await run(settings, asked_of(tree, spec, most=5))
    assert (told["status"], told["stopReason"]["reason"], told["iteration"]) == ("failed", name, attempts)
    assert len(validations(told)) == attempts - (name == "nothing_to_offer")
    assert photograph(tree) == before


SKIPPED = "import pytest\n" + PYTHON["test_calc.py"].replace("def test", "@pytest.mark.skip\ndef test")
REFUSED = {
    "a deleted test": (shell("rm test_calc.py"), "weakened_tests", "test_calc.py"),
    "a skipped test": (agent(put("test_calc.py", SKIPPED)), "weakened_tests", "test_calc.py"),
    "a workflow": (agent(put(".github/workflows/ci.yml", "on: push\n")), "workflow_file", ".github/workflows/ci.yml"),
    "git's own files": (agent(put(".git/config", "[core]\n")), "git_directory", ".git/config"),
    "outside the tree": (agent(put("../elsewhere", "x\n")), "outside_tree", "../elsewhere"),
    "an absolute path": (agent(put("/tmp/elsewhere", "x\n")), "absolute_path", "/tmp/elsewhere"),
    "a link": (shell("ln -s /etc/passwd link"), "symlink", "link"),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_what_may_not_be_changed_is_refused_and_named(settings: Settings, tmp_path: Path, name: str) -> None:
    """REQ-RUN-003, REQ-STOP-006: tests may not lose their force, nor a change leave the tree or reach into `.git`."""
    spec, reason, path = REFUSED[name]
    tree = write(tmp_path / "tree", PYTHON, commit=True)
    before = photograph(tree)
    told = await run(settings, asked_of(tree, spec, most=1, task="Make `add` add.", validationCommands=["exit 0"]))
    assert (told["status"], told["iteration"]) == ("failed", 1)
    failed = [event for event in of_type(told, "phase_failed") if event["phase"] == "implementation"]
    assert [event["data"]["reason"] for event in failed] == [reason]
    assert path in failed[0]["data"]["message"]
    assert photograph(tree) == before
    assert {path.name for path in tmp_path.iterdir()} == {"home", "tree"}


async def test_a_request_that_cannot_be_served_raises_rejected_with_the_field(
    settings: Settings, tmp_path: Path
) -> None:
    """REQ-RUN-001: by the library as by HTTP."""
    with pytest.raises(InvalidRequest) as refused:
        await run(settings, {**asked_of(tmp_path), "repo": str(tmp_path / "none")})
    assert [problem.field for problem in refused.value.problems] == ["repo"]
    unknown = parse_request({**asked_of(tmp_path), "agents": ["gpt"]})
    assert isinstance(unknown, tuple) and [problem.field for problem in unknown] == ["agents"]


async def test_line_ends_and_attributes_are_put_back_to_the_byte(settings: Settings, tmp_path: Path) -> None:
    """REQ-RUN-002: what git would convert on its way in and out of a repository is left alone."""
    files = {".gitattributes": "* text=auto\n*.id ident\n*.w working-tree-encoding=UTF-16\n", "a.id": "$Id: mine $\n"}
    tree = write(tmp_path / "tree", {**PLAIN, **files})
    (tree / "dos.txt").write_bytes(b"one\r\ntwo\r\n")
    (tree / "a.w").write_bytes("wide\n".encode("utf-16"))
    before = photograph(tree)
    mess = "for file in a.id dos.txt README; do echo x >> $file; done"
    told = await run(settings, asked_of(tree, shell(mess), most=1, validationCommands=["exit 1"]))
    assert told["status"] == "failed", told
    assert of_type(told, "changes_applied")
    assert photograph(tree) == before


async def test_a_home_within_the_tree_is_no_part_of_it(settings: Settings, tmp_path: Path) -> None:
    """REQ-RUN-002: the events of a session do not go back with its tree."""
    tree = write(tmp_path / "tree", PLAIN)
    inner = settings.model_copy(update={"home": tree / "odd [home] #1"})
    told = await run(inner, asked_of(tree, agent(put("answer.txt", "40\n")), most=1))
    assert (told["status"], told["stopReason"]["reason"]) == ("failed", "max_iterations")
    [left] = [name for name in photograph(tree) if name.endswith("/not-kept.diff")]
    assert "odd" not in (tree / left).read_text()
    told = await run(inner, asked_of(tree, agent(put("answer.txt", "42\n"))))
    assert (told["status"], told["changedPaths"]) == ("success", ["answer.txt"])


async def test_a_tree_that_is_taken_away_ends_the_session(settings: Settings, tmp_path: Path) -> None:
    """REQ-RUN-002: it says so, and does not ask for it again and again."""
    tree = write(tmp_path / "tree", PLAIN)

    def take_away(event: RunEvent) -> None:
        if event.type == "validation_command_started":
            shutil.rmtree(tree)

    told = await run(settings, asked_of(tree, agent(put("answer.txt", "40\n"))), on_event=take_away)
    assert told["status"] == "failed"
    assert str(tree) in told["stopReason"]["details"]
    assert not tree.exists()
