"""The flow around a run: waiting for a slot, changes of mind, permissions that go, secrets that must not show."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from demo.standin.server import StandIn
from tests.e2e.conftest import POLICY, REPO, RIGHT, WRONG, agent, assert_mended_once, label, wait_for_label
from tests.e2e.server import Server
from tests.machine import PATIENCE_S

Serve = Callable[..., Server]

SLOW = "checks:\n  test: { command: sleep 0.5 && python3 check.py, timeout: 20 }\n"


def set_policy(github: StandIn, policy: str) -> None:
    github.world.push_commit(REPO, "main", {".github/mendbot.yml": policy}, "ada")


class Watch:
    """The most worktrees seen at once, until `stop`."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._stop = threading.Event()
        self.most = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(0.02):
            self.most = max(self.most, len(list((self._home / "worktrees").glob("*/*/*/*"))))

    def stop(self) -> int:
        self._stop.set()
        self._thread.join()
        return self.most


def test_more_groups_than_worktrees_wait_their_turn_and_all_are_mended(github: StandIn, serve: Serve) -> None:
    """REQ-GIT-004, G-6."""
    set_policy(github, "max_worktrees: 1\n" + SLOW)
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT), MENDBOT_QUIET_SECONDS="1")
    watch = Watch(bot.home)
    world = github.world
    numbers = [
        world.create_issue(REPO, f"Part {part}", "answer.txt", author="ada", labels=(f"component:{part}",))
        for part in "abc"
    ]
    for number in numbers:
        world.add_label(REPO, number, "auto-fix", "ada")
    for number in numbers:
        wait_for_label(github, number, "auto-fix-done")
        assert_mended_once(github, number)
    assert watch.stop() == 1


def test_a_label_taken_off_within_the_quiet_period_starts_nothing(github: StandIn, serve: Serve) -> None:
    """G-2."""
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT), MENDBOT_QUIET_SECONDS="600")
    number = label(github)
    bot.because("added the label `auto-fix`")
    assert waiting(bot) == [(number,)]
    github.world.remove_label(REPO, number, "auto-fix", "ada")
    bot.because("removed the label `auto-fix`")
    assert waiting(bot) == [], "it would start when the period is over"
    assert github.world.issue(REPO, number).comments == ()
    assert github.world.issue(REPO, number).labels == ()


def waiting(bot: Server) -> list[tuple[int]]:
    """The issues that become a run when their burst falls quiet."""
    with sqlite3.connect(f"file:{bot.home / 'mendbot.db'}?mode=ro", uri=True) as database:
        return database.execute("SELECT issue FROM candidates").fetchall()


def test_the_skip_label_keeps_an_issue_out(github: StandIn, serve: Serve) -> None:
    """G-1."""
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    number = github.world.create_issue(REPO, "Not this one", "answer.txt", author="ada", labels=("auto-fix-skip",))
    github.world.add_label(REPO, number, "auto-fix", "ada")
    assert "auto-fix-skip" in bot.because("has the label `auto-fix-skip`")
    assert github.world.issue(REPO, number).comments == ()


def test_closing_one_issue_of_a_group_stops_the_run_and_the_others_go_on(github: StandIn, serve: Serve) -> None:
    """G-5."""
    set_policy(github, "checks:\n  test: { command: sleep 3 && python3 check.py, timeout: 20 }\n")
    serve(MENDBOT_AGENT_COMMAND=agent(RIGHT), MENDBOT_QUIET_SECONDS="1")
    world = github.world
    one, other = (
        world.create_issue(REPO, f"Wrong {word}", "answer.txt", author="ada", labels=("component:a",))
        for word in ("answer", "number")
    )
    for number in (one, other):
        world.add_label(REPO, number, "auto-fix", "ada")
    wait_for_label(github, one, "auto-fix-processing")
    world.close_issue(REPO, one, "ada")
    wait_for_label(github, other, "auto-fix-done")
    assert [pull.closes for pull in world.pulls(REPO)] == [(other,)]
    assert "auto-fix-processing" not in world.issue(REPO, one).labels
    assert "was closed" in world.issue(REPO, one).comments[0].body


def test_an_app_that_is_uninstalled_stops_without_a_word_or_a_traceback(github: StandIn, serve: Serve) -> None:
    set_policy(github, "checks:\n  test: { command: sleep 3 && python3 check.py, timeout: 20 }\n")
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    number = label(github)
    wait_for_label(github, number, "auto-fix-processing")
    github.world.uninstall_app(REPO)
    bot.because("installation was deleted")
    deadline = time.monotonic() + PATIENCE_S
    while list((bot.home / "worktrees").glob("*/*/*/*")) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not list((bot.home / "worktrees").glob("*/*/*/*"))
    assert "Traceback" not in bot.tail(100_000)


def test_no_secret_shows_in_argv_on_disk_or_on_github(github: StandIn, serve: Serve) -> None:
    probe = "env; cat /proc/1/environ; cat /proc/*/cmdline; python3 check.py"
    set_policy(github, f"checks:\n  test: {{ command: {json.dumps(probe)}, timeout: 20 }}\n")
    bot = serve(MENDBOT_AGENT_COMMAND=agent(WRONG), MENDBOT_ADMIN_TOKEN="admin-token-that-nobody-may-see")
    seen: set[str] = set()
    stop = threading.Event()

    def watch_argv() -> None:
        while not stop.wait(0.005):
            for line in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    seen.add(line.read_text(errors="replace"))
                except OSError:
                    continue  # it ended meanwhile

    watcher = threading.Thread(target=watch_argv, daemon=True)
    watcher.start()
    number = label(github)
    wait_for_label(github, number, "auto-fix-failed")
    stop.set()
    watcher.join()
    body = github.world.issue(REPO, number).comments[0].body
    files = [path for path in bot.home.rglob("*") if path.is_file() and path.stat().st_size < 50_000_000]
    texts = [body, bot.tail(10**7), *seen, *(path.read_bytes().decode("latin-1") for path in files)]
    for secret in ("ghs_", "admin-token-that-nobody-may-see", github.webhook_secret, github.private_key_pem[40:90]):
        assert not [text[:200] for text in texts if secret in text], secret


@pytest.mark.soak  # test_config.py has a push that breaks the file, and one that mends it
@pytest.mark.parametrize("policy", ["checks: [\n", "trigger_lable: fix-me\n", "max_group_size: none\n"])
def test_a_broken_configuration_leaves_the_last_good_one_in_force(github: StandIn, serve: Serve, policy: str) -> None:
    set_policy(github, "trigger_label: mend\n" + POLICY)
    serve(MENDBOT_AGENT_COMMAND=agent(RIGHT))
    world = github.world
    first = world.create_issue(REPO, "First", "answer.txt", author="ada")
    world.add_label(REPO, first, "mend", "ada")
    wait_for_label(github, first, "auto-fix-done")
    set_policy(github, policy)
    second = world.create_issue(REPO, "Second", "answer.txt", author="ada")
    world.add_label(REPO, second, "mend", "ada")
    wait_for_label(github, second, "auto-fix-done")
