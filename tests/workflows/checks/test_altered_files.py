"""What a check writes into the tree changes nothing of what is judged and pushed (REQ-PROOF-003); what setup made is
there for every check and belongs to no change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bot.config import Policy
from bot.reports.runs.pull_request import pull_body
from bot.rules.runs.state import RunState
from bot.workflows.reporting.run_view import view_of
from bot.workspace.mirror import mirror as mirrors
from tests.workflows.conftest import Harness, ScriptedAgent
from tests.workflows.whole_run import Doer, go, judged, through

AtDesk = Callable[..., Any]

RUFF = '[tool.ruff]\nfix = true\n[tool.ruff.lint]\nselect = ["F401"]\n'
UNTOUCHED = """import pathlib, sys
wrong = pathlib.Path("answer.txt").read_text() != "42\\n"
print("error: wrong answer" if wrong else "right")
for name, text in (("app.py", "import os\\n"), ("added.py", "import sys\\n")):
    if pathlib.Path(name).exists() and pathlib.Path(name).read_text() != text:
        sys.exit(f"{name}: error: this is not what was proposed")
sys.exit(wrong)
"""
REWRITES = """const fs = require("fs");
for (const name of ["app.py", "added.py"]) if (fs.existsSync(name)) fs.appendFileSync(name, "# linted\\n");
fs.rmSync("notes.txt");
fs.mkdirSync("dist", { recursive: true });
fs.writeFileSync("dist/out.js", "built");
"""
USES_BUILD = f"""{UNTOUCHED.rpartition("sys.exit")[0]}
assert pathlib.Path("notes.txt").read_text() == "keep\\n"
assert pathlib.Path("dist/out.js").exists(), "the build is gone"
sys.exit(wrong)
"""


def answer(tree: Path) -> None:
    (tree / "answer.txt").write_text("42\n")
    (tree / "app.py").write_text("import os\n")
    (tree / "added.py").write_text("import sys\n")


async def pushed(at: Harness, state: RunState) -> dict[str, str | None]:
    assert state.commit_sha is not None, state.stop
    mirror = at.context.mirror(at.repo)
    names = await mirrors.list_files(mirror, state.commit_sha)
    return {name: await mirrors.read_file(mirror, state.commit_sha, name) for name in names}


def checks(**commands: str) -> dict[str, Any]:
    return {"checks": {name: {"command": command} for name, command in commands.items()}}


def test_a_linter_that_fixes_by_its_configuration_changes_nothing_of_what_is_judged_and_pushed(at_desk: AtDesk) -> None:
    """REQ-PROOF-003: `fix = true` of ruff."""

    async def work(at: Harness) -> tuple[RunState, dict[str, str | None], str, str]:
        judged(at, UNTOUCHED, pyproject__toml=RUFF, app__py="import os\n")
        at.hands = [Doer([answer])]
        state = await go(at, "run-1", policy=checks(lint="ruff check .", test="python3 judge.py"))
        view = view_of(await at.row("run-1"), state)
        return state, await pushed(at, state), pull_body(view, "en"), pull_body(view, "ko")

    state, files, english, korean = at_desk(work)
    (validation,) = state.validations
    assert [(step.stage, step.restored) for step in validation.steps if not step.skipped] == [
        ("lint", ("added.py", "app.py")),
        ("test", ()),
    ]
    assert (files["app.py"], files["added.py"]) == ("import os\n", "import sys\n")
    assert "The check `lint` changed `added.py` and `app.py` while it ran. Mendbot restored" in english
    assert "`lint` 체크가 실행 중에 `added.py`, `app.py` 파일을 변경했습니다" in korean


def test_files_that_a_lint_script_rewrites_or_deletes_are_restored_and_what_it_builds_stays(at_desk: AtDesk) -> None:
    """REQ-PROOF-003: as `eslint --fix` and a build would."""

    async def work(at: Harness) -> tuple[RunState, dict[str, str | None]]:
        judged(at, USES_BUILD, app__py="import os\n", notes__txt="keep\n", lint__js=REWRITES)
        at.hands = [Doer([answer])]
        state = await go(at, "run-1", policy=checks(lint="node lint.js", test="python3 judge.py"))
        return state, await pushed(at, state)

    state, files = at_desk(work)
    assert state.validations[-1].steps[0].restored == ("added.py", "app.py", "notes.txt")
    assert (files["app.py"], files["added.py"], files["notes.txt"]) == ("import os\n", "import sys\n", "keep\n")
    assert "dist/out.js" not in files
    assert sorted(state.changed_paths) == ["added.py", "answer.txt"]


def test_the_second_run_of_a_failed_check_begins_with_the_same_files(at_desk: AtDesk) -> None:
    """Else a check that rewrites what it complains of would count as flaky, and pass."""
    judge = 'f=answer.txt; grep -q 42 $f || { echo "$f: error: wrong"; echo 42 > $f; exit 1; }'

    async def work(at: Harness) -> RunState:
        at.hands = [Doer([lambda tree: (tree / "answer.txt").write_text("40\n") and None])]
        return await go(at, "run-1", policy={**checks(test=judge), "stop": {"max_iterations": 1}})

    state = at_desk(work)
    (step,) = [one for one in state.validations[-1].steps if not one.skipped]
    assert (step.passed, step.flaky, step.restored) == (False, False, ("answer.txt",))


def test_what_an_interrupted_check_had_altered_is_restored_before_the_next(at_desk: AtDesk) -> None:
    """The check rewrites the answer and hangs; whoever takes the run up again judges what was proposed."""
    check = "test ! -e ../again || exec python3 check.py; echo half > answer.txt; touch ../begun; sleep 600"

    async def work(at: Harness) -> RunState:
        at.hands = [Doer([answer])]
        policy = Policy.model_validate(checks(test=check))
        row = await at.run("run-1", at.issue(), policy=policy, baseline=False)
        beside = at.context.tree_path(row).parent
        worker = asyncio.create_task(through(at, "run-1"))
        while not (beside / "begun").exists():
            assert not worker.done(), await worker
            await asyncio.sleep(0.01)
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)
        (beside / "again").touch()
        return await through(at, "run-1")

    state = at_desk(work)
    assert [step.passed for step in state.validations[-1].steps if not step.skipped] == [True]


SETUP = (
    "mkdir -p .venv/bin node_modules/left generated && printf '#!/bin/sh\\nexit 0\\n' > .venv/bin/tool && "
    "chmod +x .venv/bin/tool && echo x > node_modules/left/index.js && echo made > generated/code.txt && "
    "echo rewritten >> answer.txt"
)
NEEDS_SETUP = (
    ".venv/bin/tool && test -f node_modules/left/index.js && test -f generated/code.txt && "
    "! grep -q rewritten answer.txt && echo cached > node_modules/.cache && python3 check.py"
)


def test_what_setup_made_is_there_for_every_check_and_no_part_of_the_change(at_desk: AtDesk) -> None:
    """No `.gitignore` names any of it; the files that setup rewrote are the commit's again."""

    def first(tree: Path) -> None:
        (tree / "answer.txt").write_text("40\n")
        (tree / ".venv/bin/tool.pyc").write_bytes(b"compiled")
        (tree / "node_modules/more").mkdir()
        (tree / "node_modules/more/index.js").write_text("x")

    def second(tree: Path) -> None:
        (tree / "answer.txt").write_text("42\n")
        (tree / "generated/by_hand.txt").write_text("beside what setup made\n")

    async def work(at: Harness) -> tuple[RunState, dict[str, str | None], list[tuple[str, ...]]]:
        at.hands = [Doer([first, second])]
        state = await go(at, "run-1", policy={**checks(test=NEEDS_SETUP), "setup": SETUP})
        return state, await pushed(at, state), [made.paths for made in state.made]

    state, files, made = at_desk(work)
    assert made == [("answer.txt",), ("answer.txt", "generated/by_hand.txt")]
    assert sorted(state.changed_paths) == ["answer.txt", "generated/by_hand.txt"]
    assert files["answer.txt"] == "42\n"
    assert not {name for name in files if name.startswith((".venv/", "node_modules/", "generated/code"))}


def test_a_setup_that_makes_thousands_of_files_does_not_count_against_the_size_of_a_change(at_desk: AtDesk) -> None:
    setup = "python3 -m venv --without-pip tools && for n in $(seq 600); do echo $n > tools/f$n; done"

    async def work(at: Harness) -> RunState:
        def edit(tree: Path) -> None:
            for number in range(600):
                (tree / f"tools/g{number}").write_text("cache")
            (tree / "answer.txt").write_text("42\n")

        at.hands = [ScriptedAgent(edit)]
        return await go(at, "run-1", policy={**checks(test="tools/bin/python check.py"), "setup": setup})

    state = at_desk(work)
    assert state.stop is None and state.changed_paths == ("answer.txt",)


def test_what_setup_rewrote_is_told_in_its_log(at_desk: AtDesk) -> None:
    async def work(at: Harness) -> tuple[str, list[str]]:
        at.hands = [Doer([answer])]
        await go(at, "run-1", policy={**checks(test="python3 check.py"), "setup": "echo more >> answer.txt"})
        (event,) = [one for one in await at.runs.events("run-1") if one.type == "setup_completed"]
        log = next(at.context.settings.home.rglob("setup.log"))
        return log.read_text(), event.data()["restored"]

    log, restored = at_desk(work)
    assert restored == ["answer.txt"] and "Mendbot restored 1 tracked files that setup had changed: answer.txt" in log


def test_a_check_that_cannot_start_says_so(at_desk: AtDesk) -> None:
    """REQ-RUN-005."""

    async def work(at: Harness) -> RunState:
        at.hands = [Doer([answer])]
        return await go(at, "run-1", policy={**checks(test="no-such-runner -q"), "stop": {"max_iterations": 1}})

    state = at_desk(work)
    assert state.baseline is not None and state.stop is not None and state.stop.reason == "cannot_check"
    step = state.baseline.steps[-1]
    assert step.could_not_run is not None
    assert (step.could_not_run.hindrance, step.could_not_run.what) == ("not_found", "no-such-runner")
    assert (step.passed, step.flaky, step.classification) == (False, False, "runtime")
