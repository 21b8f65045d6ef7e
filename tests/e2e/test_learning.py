"""What a person's push teaches, from the webhook to the next failing check, and to `mendbot history` (REQ-RA-311)."""

from __future__ import annotations

import json
from collections.abc import Callable

from demo.standin.server import StandIn
from tests.e2e.conftest import REPO
from tests.e2e.pull_world import BAD, branch, mend_main, open_pull, wait_for_checks
from tests.e2e.server import Server
from tests.forked_bot import run_bot
from tests.machine import PATIENCE_S

Serve = Callable[..., Server]


def test_what_a_person_pushed_is_told_when_the_same_failure_comes_back(github: StandIn, serve: Serve) -> None:
    """REQ-RA-311, REQ-RA-312."""
    mend_main(github)
    server = serve()
    world = github.world
    number, sha = open_pull(github, {"answer.txt": BAD})
    wait_for_checks(github, sha, test="failure")
    green = branch(github, "feature", {"answer.txt": "42\n"}, by="eve")
    wait_for_checks(github, green, test="success")
    merged = world.merge_pull(REPO, number, "ada")
    server.because("it was merged")

    _, again = open_pull(github, {"answer.txt": BAD}, name="again")
    test = wait_for_checks(github, again, test="failure")["test"]
    assert "seen 2 times since" in test.summary
    assert f"[`{merged[:7]}`]" in test.summary, "not the commit that the default branch has"
    assert f"[#{number}]" in test.summary
    (note,) = test.annotations
    assert "eve" in note["message"]
    assert "Edit answer.txt → python3 check.py" in note["message"]

    told = run_bot("history", "answer.txt", "--json", env=server.env, timeout=PATIENCE_S)
    (known,) = json.loads(told.stdout)["errors"]
    resolution = known["resolution"]
    assert (resolution["author"], resolution["commit"], resolution["pullRequest"]) == ("eve", merged, number)
    assert "+42" in resolution["patch"]
