"""The story of `make demo SCENARIO=pull-request`: a colleague's pull request whose failures are told apart and fixed,
and a stranger's, of which nothing runs before a maintainer has looked at it."""

from __future__ import annotations

from demo.driver import Stage
from demo.scenarios.issues import POCKET, Scenario, diff, sample

COLLEAGUE, MAINTAINER, STRANGER = "bo", "ada", "sam"
CHECKS = ("typecheck", "lint", "test")
_FINE = ("success", "neutral")
"""GitHub holds up no merge for either."""


def pull_request_scenario() -> Scenario:
    """The sample with a lint error on its main branch and a test that fails in every fresh checkout."""
    files = {**sample("pocket"), **sample("pulls/base")}
    module = "pocket/duration.py"
    wrong = sample("pulls/days")[module].decode()
    return Scenario(
        name="pull-request",
        repo=POCKET,
        files=files,
        answers=((diff(module, wrong, wrong.replace("84_400", "86_400")),),),
        said="its main branch has an error that lint finds, and a test that fails until a cache is there",
        act=act,
    )


def act(stage: Stage) -> None:
    stage.world.set_permission(stage.repo, COLLEAGUE, "write")
    first, head = _a_colleagues(stage)
    new = _fixed(stage, first, head)
    second = _a_strangers(stage)
    _in_the_end(stage, first, (head, new), second)


def _a_colleagues(stage: Stage) -> tuple[int, str]:
    """What fails is told apart: new, there on the base too, failing without a changed line executed."""
    world, repo = stage.world, stage.repo
    stage.story.step(f"{COLLEAGUE}, who has write access, opens a pull request: days in durations, with a slip")
    head = world.push_files(repo, "days", _text("pulls/days"), "Read days", COLLEAGUE)
    number = world.open_pull(repo, "days", "Read days too", "`2d` is two days.", COLLEAGUE)
    stage.story.say(f"  #{number} Read days too, at {head[:7]}")
    stage.follow(number)
    stage.until(
        f"check runs on pull request #{number}: test failed, typecheck passed, lint neutral",
        lambda: stage.conclusions(head, test=("failure",), typecheck=("success",), lint=("neutral",)),
    )
    found = stage.checks(head)
    for name, words in (("test", "new failing test"), ("test", "not reached"), ("lint", "existing failure")):
        stage.promise(f"{words!r} in the title of the check run `mendbot / {name}`", words in found[name].title)
    places = [(one["path"], one["start_line"]) for one in found["test"].annotations]
    stage.promise("an annotation at a line of tests/test_duration.py", "tests/test_duration.py" in dict(places))
    stage.promise("the button Fix at the failed test, and none at lint", _buttons(stage, head) == {"test"})
    return number, head


def _text(name: str) -> dict[str, str | bytes | None]:
    return dict(sample(name))


def _buttons(stage: Stage, head: str) -> set[str]:
    """The checks that have the button *Fix*."""
    return {
        name for name, run in stage.checks(head).items() if "fix" in {action["identifier"] for action in run.actions}
    }


def _fixed(stage: Stage, number: int, head: str) -> str:
    """The new failure is fixed on top of the branch; the others are left alone."""
    stage.story.step(f"{MAINTAINER} presses Fix at `mendbot / test`")
    stage.world.press_button(stage.checks(head)["test"].id, "fix", MAINTAINER)
    stage.until(
        f"a push of the fix to pull request #{number}",
        lambda: stage.pull(number).head_sha != head,
        unless=lambda: stage.conclusions(head, fix=("failure", "cancelled", "timed_out")),
    )
    new = stage.pull(number).head_sha
    stage.until(
        f"check runs that hold up no merge on {new[:7]}, the new head of pull request #{number}",
        lambda: stage.conclusions(new, fix=("success",), **dict.fromkeys(CHECKS, _FINE)),
    )
    stage.until(f"a comment on #{number} that names {new[:7]}", lambda: stage.says(number, "fix", new[:7]))
    return new


def _a_strangers(stage: Stage) -> int:
    """Nothing runs before somebody with write access has approved that very commit."""
    world, repo = stage.world, stage.repo
    fork = world.fork(repo, STRANGER)
    stage.story.step(f"{STRANGER}, a stranger, opens a pull request from the fork {fork}")
    head = world.push_files(fork, "prices", _text("pulls/fork"), "Test prices", STRANGER)
    number = world.open_pull(repo, f"{STRANGER}:prices", "Test the prices", "", STRANGER)
    stage.story.say(f"  #{number} Test the prices, at {head[:7]}")
    stage.follow(number)
    _waits(stage, number, head)
    stage.story.step(f"{MAINTAINER} has looked at it and says so")
    stage.comment(number, "/mendbot ok-to-test", MAINTAINER)
    stage.until(
        f"check runs that hold up no merge on {head[:7]} of pull request #{number}",
        lambda: stage.conclusions(head, **dict.fromkeys(CHECKS, _FINE)),
        unless=lambda: stage.says(number, "reply", "did not run"),
    )
    stage.story.step(f"{STRANGER} pushes once more: that approval was for {head[:7]} alone")
    newer = world.push_files(fork, "prices", _more(), "Test what is free", STRANGER)
    _waits(stage, number, newer)
    return number


def _more() -> dict[str, str | bytes | None]:
    path = "tests/test_money.py"
    more = '\n\ndef test_free() -> None:\n    assert euros(0) == "free"\n'
    return {path: sample("pulls/fork")[path].decode() + more}


def _waits(stage: Stage, number: int, head: str) -> None:
    waiting = dict.fromkeys(CHECKS, ("action_required",))
    stage.until(f"check runs on {head[:7]} that wait for approval", lambda: stage.conclusions(head, **waiting))
    stage.until(
        f"a comment on #{number} that says how to approve {head[:7]}",
        lambda: stage.says(number, "checks", f"/mendbot ok-to-test {head[:12]}"),
    )


def _in_the_end(stage: Stage, first: int, heads: tuple[str, str], second: int) -> None:
    world, repo = stage.world, stage.repo
    fixed = world.read_file(repo, heads[1], "pocket/duration.py") or b""
    kept = world.read_file(repo, heads[1], "pocket/money.py") or b""
    stage.promise("the right number of seconds in pocket/duration.py", b"86_400" in fixed)
    stage.promise("pocket/money.py left as it is: its error is not this pull request's", b"is 0" in kept)
    for number in (first, second):
        purposes = [one.body.partition("-->")[0] for one in stage.pull(number).comments if one.author == "mendbot[bot]"]
        stage.promise(f"no purpose with two comments on #{number}", len(set(purposes)) == len(purposes))
