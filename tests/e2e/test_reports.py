"""What people read while a run goes on and once it is over: one comment, kept up to date whatever happens to it and to
the bot; after a failure all that a person needs, and then silence. Whatever a log says stays within its box."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from markdown_it.token import Token

from demo.standin.server import StandIn
from demo.standin.views import CommentView
from tests.e2e.conftest import REPO, RIGHT, WRONG, agent, label, wait_for_label
from tests.e2e.pull_world import mend_main, open_pull, wait, wait_for_checks, wait_for_comment
from tests.e2e.server import Server
from tests.e2e.session_faces import sleepers, until
from tests.e2e.session_projects import LONG
from tests.reports.format.markdown_leaves import MENTION, leaves
from tests.rules.runs.metadata_checker import faults

Serve = Callable[..., Server]

MARKER = "<!-- mendbot:issue -->"
FORGED = f"{MARKER}\n**✅ A fix is ready for review**"
CERTIFICATE = re.compile(r"```json\n(.*?)\n```", re.DOTALL)
HEADS = {"⏳": "queued", "🔄": "running", "✅": "success", "❌": "failed"}

ERRORS = """\
import sys
wrong = open("wrong.txt").read().split()
for number, line in enumerate(wrong, 1):
    print(f"wrong.txt:{number}: error: {line} is wrong [E-{line}]")
    print("\\n".join(f"  note {line} {step}" for step in range(40)))
sys.exit(3 if wrong else 0)
"""
"""Each word of `wrong.txt` is an error of its own; its notes are more than a comment shows."""
ERRORS_POLICY = "max_attempts: 1\nagents: [command]\nchecks:\n  test: { command: python3 errors.py, timeout: 20 }\n"

EVIL = "@org/team fixes #1 <!-- mendbot:issue --> ``` [x](https://evil.example)"
HOSTILE = f"""\
import pathlib, sys
if pathlib.Path("answer.txt").read_text() == "42\\n":
    sys.exit(0)
print("answer.txt:1: error: " + {EVIL!r})
print({EVIL + chr(10) + "```" + chr(10) + "~~~~"!r})
print("\\x1b[31m@red\\x1b[0m \\x1b]8;;https://evil.example\\x07x\\x1b]8;;\\x07")
print("answer.txt:1: error: " + "\\U0001f600" * 16384)
for line in range(2, 200):
    print(f"answer.txt:{{line}}: error: {{line}} " + "\\U0001f600" * 390)
print("answer.txt:1: error: " + "@a" * 100000)
print("FAILED " + "`" * 300 + " @org/team")
sys.exit(1)
"""


def told(github: StandIn, number: int) -> list[CommentView]:
    """The bot's own comments of an issue."""
    return [one for one in github.world.comments(REPO, number) if one.author.endswith("[bot]")]


def states(github: StandIn, comment_id: int) -> list[str]:
    """What the comment said in turn, by its headline."""
    found = []
    for request in github.world.requests:
        mine = request.path.endswith(f"/issues/comments/{comment_id}") and request.method == "PATCH"
        made = request.method == "POST" and isinstance(request.response, dict) and request.response.get("id")
        if request.kind == "rest" and request.status < 300 and (mine or made == comment_id):
            head = re.search("|".join(HEADS), request.body["body"])
            found.append(HEADS[head[0]] if head else "?")
    return [state for at, state in enumerate(found) if at == 0 or found[at - 1] != state]


def forget_comment(bot: Server, number: int) -> None:
    """Lose the comment's stored id, as with a database from an older backup."""
    with sqlite3.connect(bot.home / "mendbot.db") as database:
        lost = database.execute("DELETE FROM reports WHERE target = ?", (f"comment:{number}",))
        assert lost.rowcount == 1


def written(github: StandIn) -> int:
    """How often the bot wrote to GitHub."""
    return sum(
        request.method != "GET" and (request.kind == "git" or "/access_tokens" not in request.path)
        for request in github.world.requests
    )


def assert_silence(github: StandIn, bot: Server, seconds: float = 3.0) -> None:
    """Once all is decided about, the bot writes nothing more."""
    github.world.wait_delivered()
    bot.settled(len({one.guid for one in github.world.deliveries}))
    before = written(github)
    with pytest.raises(TimeoutError):
        github.world.wait_for(lambda: written(github) > before, seconds)


def metadata_in(body: str) -> dict[str, Any]:
    found = CERTIFICATE.findall(body)
    assert len(found) == 1, body
    return dict(json.loads(found[0]))


def test_each_run_has_one_comment_whoever_forges_it_and_whatever_is_lost(github: StandIn, serve: Serve) -> None:
    """G-2."""
    world = github.world
    number = world.create_issue(REPO, "The answer is wrong", "It says 41.", author="ada")
    forged = world.comment(REPO, number, FORGED, "eve")
    for at in range(105):
        world.comment(REPO, number, f"me too ({at})", "eve")
    world.faults.add("POST", rf"/{REPO}\.git/git-upload-pack", status=None, delay_s=1.5)  # so that queued shows
    bot = serve(MENDBOT_AGENT_COMMAND=agent(WRONG))
    world.add_label(REPO, number, "auto-fix", "ada")
    wait_for_label(github, number, "auto-fix-failed")
    first = told(github, number)
    bot.kill()
    forget_comment(bot, number)
    bot.env["MENDBOT_AGENT_COMMAND"] = agent(RIGHT)
    bot.start()
    world.comment(REPO, number, "/mendbot retry", "ada")
    wait_for_label(github, number, "auto-fix-done")
    wait(github, lambda: "✅" in told(github, number)[-1].body, "the success to be told")
    failure, success = told(github, number)  # the question stands between them
    assert [one.id for one in first] == [failure.id]
    assert states(github, failure.id) == ["failed"]
    said = states(github, success.id)
    assert said[0] in ("queued", "running") and said[-1] == "success" and "failed" not in said, said
    untouched = next(one for one in world.comments(REPO, number) if one.id == forged)
    assert (untouched.body, untouched.updated_at) == (FORGED, untouched.created_at)

    for one in (failure, success):
        world.delete_comment(one.id, "ada")
    world.remove_label(REPO, number, "auto-fix", "ada")
    bot.because("removed the label `auto-fix`")
    world.add_label(REPO, number, "auto-fix", "ada")
    wait(github, lambda: len(world.pulls(REPO)) == 2, "the second run's pull request")
    wait(github, lambda: [world.pulls(REPO)[1].url in one.body for one in told(github, number)] == [True], "a comment")
    assert told(github, number)[0].id not in (failure.id, success.id)


def test_a_run_that_cannot_go_on_after_a_kill_is_not_said_to_be_worked_on_for_ever(
    github: StandIn, serve: Serve
) -> None:
    """G-4."""
    slow = f"checks:\n  test: {{ command: sleep {LONG}, timeout: 900 }}\n"
    github.world.push_commit(REPO, "main", {".github/mendbot.yml": slow}, "ada")
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    number = label(github)
    until(lambda: sleepers() > 0)
    wait_for_comment(github, number, "issue", "🔄")
    bot.kill()
    with sqlite3.connect(bot.home / "engine.db") as database:
        given_up = "UPDATE workflow_status SET status = 'MAX_RECOVERY_ATTEMPTS_EXCEEDED' WHERE name = 'fix'"
        assert database.execute(given_up).rowcount == 1
    bot.start()
    said = wait_for_comment(github, number, "issue", "gave_up")
    assert "needs a human" in said and "🔄" not in said
    wait_for_label(github, number, "auto-fix-failed")
    assert "auto-fix-processing" not in github.world.issue(REPO, number).labels
    assert len(told(github, number)) == 1


def by_brief(answers: Mapping[str, str]) -> str:
    """An agent that writes into `wrong.txt` what belongs to the first word that its brief has."""
    script = (
        "import json, sys\nbrief = sys.stdin.read()\n"
        f"answers = json.loads({json.dumps(json.dumps(dict(answers)))})\n"
        "text = next(text for word, text in answers.items() if word in brief)\n"
        'print(json.dumps({"changes": [{"path": "wrong.txt", "content": text}]}))\n'
    )
    return json.dumps(["python3", "-c", script])


def test_a_failed_run_tells_a_person_all_there_is_and_then_keeps_still(github: StandIn, serve: Serve) -> None:
    """REQ-RA-312: what cleared the same error before is told with its pull request. G-4."""
    world = github.world
    files = {"wrong.txt": "alpha beta\n", "errors.py": ERRORS, ".github/mendbot.yml": ERRORS_POLICY}
    world.push_commit(REPO, "main", files, "ada")
    bot = serve(MENDBOT_AGENT_COMMAND=by_brief({"Mend it all": "", "Try it": "beta gamma\n"}))
    one = label(github, "Mend it all", "Please.")
    wait_for_label(github, one, "auto-fix-done")
    pull = world.pulls(REPO)[0]
    two = label(github, "Try it", "Please.")
    wait_for_label(github, two, "auto-fix-failed")
    assert_silence(github, bot)

    body = told(github, two)[0].body
    for words in (
        "**❌ Not fixed · needs a human**",
        "1 of 1 attempts used (`max_iterations`).",
        "**What failed:** `test` · `python3 errors.py` · exit code 3",
        "1 fixed · 1 remaining · 1 new",
        "- fixed: `wrong.txt:1: error: alpha is wrong [E-alpha]`",
        f"Fixed in: {pull.head_sha[:7]} (#{pull.number})",
        "**What you can do**",
        "comment `/mendbot retry`",
    ):
        assert words in body, words
    block = re.search(r"```text\n(.*?)\n```", body, re.DOTALL)
    assert block is not None and "beta is wrong" in block[1] and len(block[1].split("\n")) <= 40

    metadata = metadata_in(body)
    session = metadata["run"]
    _, artifacts = bot.get(f"/api/sessions/{session}/artifacts")
    assert isinstance(artifacts, list)
    stored = [{key: one.get(key) for key in metadata} for one in artifacts if one["id"] == f"{session}.certificate"]
    assert stored == [metadata]  # the API leaves out what is null
    assert faults(metadata) == []
    assert (metadata["decision"], metadata["issues"], metadata["attempts"][0]["fixed"]) == (
        "needs-human",
        [two],
        1,
    )
    labelled = [one for one in world.requests if one.method == "POST" and one.path.endswith(f"/{two}/labels")]
    assert [one.body["labels"] for one in labelled].count(["auto-fix-failed"]) == 1


def outside_code(markdown: str) -> list[Token]:
    return [token for token in leaves(markdown) if token.type not in ("fence", "code_block", "code_inline")]


def assert_harmless(markdown: str) -> None:
    """Nobody is mentioned, nothing is closed or linked to by what a log or an issue says; each fold is shut again."""
    shown = outside_code(markdown)
    words = "\n".join(token.content for token in shown if not token.type.startswith("html"))
    assert not MENTION.search(words) and "fixes #1" not in words
    tags = "".join(token.content for token in shown if token.type.startswith("html"))
    # its own two markers: of its purpose, and of what it is about
    assert len(re.findall("<!--", tags)) <= 2 and "evil" not in tags
    links = [str(token.attrs["href"]) for token in shown if token.type == "link_open"]
    assert not [link for link in links if "evil" in link]
    assert tags.count("<details>") == tags.count("</details>")


def test_whatever_a_check_prints_github_takes_it_and_nobody_is_called(github: StandIn, serve: Serve) -> None:
    """T36, T39. G-4."""
    world = github.world
    world.push_commit(REPO, "main", {"check.py": HOSTILE}, "ada")
    serve(MENDBOT_AGENT_COMMAND=agent(WRONG))
    number = label(github, f"{EVIL} 😀", EVIL)
    wait_for_label(github, number, "auto-fix-failed")
    mend_main(github)
    pull, sha = open_pull(github, {"answer.txt": "41\n"})
    found = wait_for_checks(github, sha, 90, test="failure")
    world.comment(REPO, number, "/mendbot explain", "ada")
    wait(github, lambda: len(told(github, number)) == 2, "the explanation")

    refused = [one for one in world.requests if one.status == 422]
    assert refused == []
    body = told(github, number)[0].body
    assert "😀" in body and "Sandbox:" in "".join(token.content for token in leaves(body) if token.type == "text")
    assert [token.type for token in leaves(body)].count("fence") >= 2, "the box of the log is open or gone"
    said = [one.body for one in (*told(github, number), *told(github, pull))]
    for text in (*said, *(text for run in found.values() for text in (run.summary, run.text))):
        assert_harmless(text)
        assert "\x1b" not in text
    assert found["test"].annotations
