"""The repository's own configuration, from the file to what people see (spec K-1): judged at the command line, told in
the repository's language, and a broken one said where it broke while the last good one stays in force."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from demo.standin.server import StandIn
from tests.e2e.conftest import REPO, RIGHT, WRONG, agent, label, wait_for_label
from tests.e2e.pull_world import checks, mend_main, open_pull, wait, wait_for_checks, wait_for_comment
from tests.e2e.server import Server
from tests.e2e.session_faces import run_command
from tests.machine import PATIENCE_S

Serve = Callable[..., Server]

MENDBOT = Path(sys.executable).with_name("mendbot")
PATH = ".github/mendbot.yml"
HANGUL = re.compile("[가-힣]")


def policy(command: str, **more: str) -> str:
    lines = [f"{key}: {value}" for key, value in more.items()]
    return "\n".join([*lines, "checks:", f"  test: {{ command: {json.dumps(command)}, timeout: 20 }}", ""])


def installed(where: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """The installed command, in a directory."""
    return subprocess.run([MENDBOT, "config", *args], cwd=where, capture_output=True, text=True, timeout=PATIENCE_S)


def mendbot(where: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """The same command, forked."""
    return run_command("config", *args, env=os.environ, cwd=where)


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A repository as `git init` makes it, with a directory below."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "src").mkdir()
    (tmp_path / ".github").mkdir()
    return tmp_path


def test_the_command_line_judges_a_file_before_it_is_pushed(fresh: Path) -> None:
    """K-1: exit codes 0, 1 and 2, lines to jump to, one JSON document."""
    missing = mendbot(fresh, "check")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert f"{PATH}: no such file" in missing.stderr and "Traceback" not in missing.stderr

    (fresh / PATH).write_text("language: ko\n\ntrigger_lable: mend\nmax_group_size: none\n")
    bad = mendbot(fresh / "src", "check")
    assert (bad.returncode, bad.stderr) == (1, "")
    assert bad.stdout.splitlines()[0] == f"../{PATH}:3:1: trigger_lable: unknown key; did you mean `trigger_label`?"
    assert bad.stdout.splitlines()[1].startswith(f"../{PATH}:4:17: max_group_size: ")
    told = mendbot(fresh, "check", "--json")
    document = json.loads(told.stdout)
    assert (told.returncode, document["valid"], document["policy"]) == (1, False, None)
    assert [(one["line"], one["key"]) for one in document["problems"]] == [(3, "trigger_lable"), (4, "max_group_size")]

    (fresh / PATH).write_text("language: ko\n")
    assert (mendbot(fresh, "check").returncode, mendbot(fresh, "check", PATH).returncode) == (0, 0)
    document = json.loads(mendbot(fresh, "check", "--json").stdout)
    assert (document["valid"], document["problems"], document["policy"]["language"]) == (True, [], "ko")


def test_the_schema_that_is_printed_knows_every_key_that_is_accepted(fresh: Path) -> None:
    """K-1."""
    printed = installed(fresh, "schema")
    keys = json.loads(printed.stdout)["properties"]
    assert printed.returncode == 0
    assert {"trigger_label", "group_by", "checks", "fixers", "agents", "stop", "language", "pull_requests"} <= set(keys)
    assert installed(fresh, "schema", "--jsonx").returncode == 2


def test_a_repository_that_speaks_korean_is_told_everything_in_korean(github: StandIn, serve: Serve) -> None:
    """K-1: `language: ko` in the file, an English server."""
    world = github.world
    world.push_commit(REPO, "main", {PATH: policy("python3 check.py", language="ko")}, "ada")
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT), MENDBOT_LANGUAGE="en")
    one = label(github)
    wait_for_label(github, one, "auto-fix-done")
    fixed = wait_for_comment(github, one, "issue", "**✅ 수정 PR을 열었습니다. 리뷰해 주세요**")
    head = world.pulls(REPO)[0].head_sha
    found = wait_for_checks(github, head, fix="success", test="success")
    assert all(HANGUL.search(run.title) and HANGUL.search(run.summary) for run in found.values())
    assert HANGUL.search(world.pulls(REPO)[0].body) and "A fix" not in fixed

    bot.kill()
    bot.env["MENDBOT_AGENT_COMMAND"] = agent(WRONG)
    world.push_commit(REPO, "main", {PATH: policy("python3 check.py", language="ko", agents="[command]")}, "ada")
    bot.start()
    two = label(github, "Another one")
    failed = wait_for_comment(github, two, "issue", "**❌ 수정하지 못했습니다 · 사람의 확인이 필요합니다**")
    assert "What you can do" not in failed and "Run metadata" not in failed

    mend_main(github)
    _, sha = open_pull(github, {"answer.txt": "41\n"})
    found = wait_for_checks(github, sha, test="failure")
    assert HANGUL.search(found["test"].title) and HANGUL.search(found["test"].summary)


def test_a_push_that_breaks_the_file_is_told_on_its_commit_and_the_last_good_one_holds_until_a_good_push(
    github: StandIn, serve: Serve
) -> None:
    """K-1: what ran is seen in the tree's check, which prints which configuration asked for it."""
    world = github.world
    world.push_commit(REPO, "main", {PATH: policy("echo of-the-first; python3 check.py", agents="[command]")}, "ada")
    bot = serve(MENDBOT_AGENT_COMMAND=agent(WRONG))
    assert commands_of(github, "The good one") == {"of-the-first"}
    text = policy("echo of-the-second; python3 check.py") + "trigger_lable: fix-me\n"
    broken = world.push_commit(REPO, "main", {PATH: text}, "ada")
    wait(github, lambda: "config" in checks(github, broken), "the check run at the commit", told=bot.tail)
    assert commands_of(github, "The broken one") == {"of-the-first"}
    good = world.push_commit(REPO, "main", {PATH: policy("echo of-the-third; python3 check.py")}, "ada")
    bot.because(f"{PATH} holds")
    assert commands_of(github, "The good one again") == {"of-the-third"}
    run = checks(github, broken)["config"]
    assert (run.status, run.conclusion, run.head_sha) == ("completed", "neutral", broken)
    assert [(one["path"], one["start_line"]) for one in run.annotations] == [(PATH, 3)]
    assert "did you mean" in run.annotations[0]["message"] and "trigger_label" in run.annotations[0]["message"]
    assert checks(github, good) == {}


def commands_of(github: StandIn, title: str) -> set[str]:
    """Which configuration's command a run of a new issue shows in its comment, once it has failed."""
    number = label(github, title)
    body = wait_for_comment(github, number, "issue", "❌")
    return set(re.findall("echo (of-the-[a-z]+)", body))
