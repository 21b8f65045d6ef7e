"""The App is installed on a repository while the server runs: one issue, and no checks before it is asked (spec H)."""

from __future__ import annotations

from collections.abc import Callable

from demo.standin.server import StandIn
from tests.e2e.conftest import FILES
from tests.e2e.server import Server
from tests.machine import PATIENCE_S

NEW = "octo/fresh"


def test_a_new_repository_gets_one_issue_and_checks_from_its_configuration_on(
    github: StandIn, serve: Callable[..., Server]
) -> None:
    """H-4."""
    world, files = github.world, dict(FILES)
    config = files.pop(".github/mendbot.yml")
    serve()
    world.create_repo(NEW, files)
    world.set_permission(NEW, "ada", "write")
    world.push_files(NEW, "topic", {"notes.txt": "one\n"}, "Note", "ada")
    world.open_pull(NEW, "topic", "A change", "", "ada")
    world.wait_for(lambda: len(world.issues(NEW)) == 1, PATIENCE_S, "the onboarding issue")
    world.push_files(NEW, "main", {".github/mendbot.yml": config}, "Configure", "ada")
    sha = world.push_files(NEW, "topic", {"notes.txt": "two\n"}, "Note", "ada")
    world.wait_for(lambda: bool(world.check_runs(NEW, sha)), PATIENCE_S, "checks of the new head")
    (issue,) = world.issues(NEW)
    assert "python3 check.py" not in (issue.body or "") and issue.title == "Set up Mendbot"
    assert {run.head_sha for run in world.check_runs(NEW)} == {sha}
