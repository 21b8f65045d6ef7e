"""What is claimed of a change: a fix where a check failed before and passes with it, and else a draft that says so."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable

from demo.standin.server import StandIn
from demo.standin.views import PullView
from tests.e2e.conftest import POLICY, REPO, agent, label, wait_for_label
from tests.e2e.server import Server
from tests.machine import PATIENCE_S

Serve = Callable[..., Server]
CLOSING = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#\d", re.IGNORECASE)
FORMATTER = (
    'import pathlib\nfor path in pathlib.Path().glob("[!.]*.*"):\n    path.write_text(path.read_text() + "\\n")\n'
)
LINT = 'import pathlib, sys\nif "\\n\\n" not in pathlib.Path("bad.py").read_text():\n'
LINT += '    print("bad.py:1:1: W391 no empty line at its end")\n    sys.exit(1)\n'
NO_MUTANTS = "The changed lines hold nothing that a mutant could change."
STYLE_ONLY = "Only lint or format failures are gone, and the issue is not about these."
LINTED = f"{POLICY}  lint: {{ command: python3 lint.py }}\nfixers: [python3 formatter.py]\n"


def push(github: StandIn, **files: str) -> None:
    github.world.push_commit(REPO, "main", {name.replace("__", "."): text for name, text in files.items()}, "ada")


def configure(github: StandIn, policy: str) -> None:
    github.world.push_commit(REPO, "main", {".github/mendbot.yml": policy}, "ada")


def drafted(github: StandIn, number: int) -> PullView:
    """The issue's pull request, once the run has said its last word about it."""
    world = github.world

    def over() -> bool:
        issue = world.issue(REPO, number)
        told = [comment.body for comment in issue.comments]
        return (
            bool(world.pulls(REPO)) and "auto-fix-processing" not in issue.labels and any("/pull/" in t for t in told)
        )

    world.wait_for(over, PATIENCE_S, f"the end of the run for #{number}")
    return world.pulls(REPO)[0]


def assert_claims_nothing(github: StandIn, number: int, pull: PullView, evidence: str) -> None:
    issue, world = github.world.issue(REPO, number), github.world
    sentence = f"**⚠️ Nothing shows that #{number} is solved; a test that fails without this change would show it.** "
    assert set(issue.labels) == {"auto-fix"}, "nothing is done, and nothing has failed"
    assert len(issue.comments) == 1
    assert issue.comments[0].body.partition("-->")[2].lstrip().startswith(sentence + evidence)
    assert pull.body.startswith(sentence + evidence)
    world.wait_for(lambda: "needs-proof" in world.pulls(REPO)[0].labels, PATIENCE_S, "the label needs-proof")
    assert f"Refs #{number}" in pull.body
    assert pull.closes == ()
    git = ["git", "-C", str(world.git_dir(REPO)), "log", "-1", "--format=%B", pull.head_sha]
    message = subprocess.run(git, capture_output=True, text=True, check=True).stdout
    assert not message.startswith("Fix")
    assert f"Refs: #{number}" in message
    assert not CLOSING.search(f"{pull.title}\n{pull.body}\n{message}"), "GitHub would close the issue"
    checks = {check.name: check for check in world.check_runs(REPO, pull.head_sha)}
    assert checks["mendbot / fix"].conclusion == "neutral"
    assert checks["mendbot / fix"].title.startswith(f"Unproven in attempt 1 of 3: {evidence}")
    assert checks["mendbot / test"].conclusion == "success"


def test_on_a_green_base_fixers_have_nothing_to_offer(github: StandIn, serve: Serve) -> None:
    push(github, answer__txt="42\n", bad__py="\n\n", lint__py=LINT, formatter__py=FORMATTER)
    configure(github, f"{LINTED}agents: [fixers]\n")
    serve()
    number = label(github, "It crashes", "`bad.py` crashes.")
    wait_for_label(github, number, "auto-fix-failed")
    issue = github.world.issue(REPO, number)
    assert "auto-fix-done" not in issue.labels
    assert "no lint or format check shows a finding" in issue.comments[0].body
    assert github.world.pulls(REPO) == ()


def test_a_change_on_a_green_base_is_a_draft_that_says_so(github: StandIn, serve: Serve) -> None:
    """G-4, REQ-PROOF-005."""
    push(github, answer__txt="42\n")
    serve(MENDBOT_AGENT_COMMAND=agent({"changes": [{"path": "other.txt", "content": "42\n"}]}))
    number = label(github, "Fix: the answer crashes")
    pull = drafted(github, number)
    assert pull.draft
    assert pull.title == "Proposed: the answer crashes"
    assert_claims_nothing(github, number, pull, NO_MUTANTS)


def test_where_github_has_no_drafts_the_title_says_that_it_is_one(github: StandIn, serve: Serve) -> None:
    push(github, answer__txt="42\n")
    github.world.allow_drafts(REPO, False)
    serve(MENDBOT_AGENT_COMMAND=agent({"changes": [{"path": "other.txt", "content": "x\n"}]}))
    number = label(github, "The answer crashes")
    pull = drafted(github, number)
    assert (pull.draft, pull.title) == (False, "Draft: The answer crashes")
    assert "GitHub has no drafts for this repository" in github.world.issue(REPO, number).comments[0].body
    assert_claims_nothing(github, number, pull, NO_MUTANTS)


def test_fixers_fix_what_lint_showed_in_the_files_with_findings_alone(github: StandIn, serve: Serve) -> None:
    others = {"other.py": "x=1\n", "notes.md": "# notes\n", "uv.lock": "version = 1\n", "notes.txt": "notes\n"}
    push(github, answer__txt="42\n", bad__py="x = 1\n", lint__py=LINT, formatter__py=FORMATTER)
    github.world.push_commit(REPO, "main", others, "ada")
    configure(github, f"{LINTED}agents: [fixers]\n")
    serve()
    number = label(github, "Lint fails", "The linter wants an empty line at the end.")
    wait_for_label(github, number, "auto-fix-done")
    [pull] = github.world.pulls(REPO)
    assert (pull.draft, pull.closes) == (False, (number,))
    world = github.world
    assert world.read_file(REPO, pull.head_sha, "bad.py") == b"x = 1\n\n"
    for name, text in others.items() | {("lint.py", LINT), ("formatter.py", FORMATTER)}:
        assert world.read_file(REPO, pull.head_sha, name) == text.encode(), name


def test_lint_that_passes_is_no_fix_of_a_crash(github: StandIn, serve: Serve) -> None:
    push(github, answer__txt="42\n", bad__py="x = 1\n", lint__py=LINT, formatter__py=FORMATTER)
    configure(github, f"{LINTED}agents: [fixers]\n")
    serve()
    number = label(github, "It crashes", "`bad.py` crashes on Mondays.")
    pull = drafted(github, number)
    assert pull.draft
    assert_claims_nothing(github, number, pull, STYLE_ONLY)
