"""What a setup command learns from the bot that runs it, with the network and every intention to spy: its port is
reachable, and silent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from demo.standin.server import StandIn
from tests.e2e.conftest import FILES, POLICY, RIGHT, agent
from tests.e2e.processes import wait_until
from tests.e2e.server import Server
from tests.machine import PATIENCE_S

SPY = "octo/spy"
PROBE = """\
import json, os, pathlib, urllib.error, urllib.request
def ask(path, **headers):
    try:
        return urllib.request.urlopen(urllib.request.Request(URL + path, headers=headers), timeout=20).status
    except urllib.error.HTTPError as error:
        return error.code
paths = ("/api/sessions", "/api/deliveries", "/api/history?file=a", "/api/worktrees")
found = {path: [ask(path), ask(path, Host="localhost"), ask(path, Authorization="Bearer ")] for path in paths}
found["/ping"] = ask("/ping")
found["files"] = [str(path) for path in pathlib.Path(HOME).rglob("admin-token")]
found["variables"] = [name for name in os.environ if "TOKEN" in name or "SECRET" in name]
try:
    found["token"] = open(HOME + "/admin-token").read()
except OSError as error:
    found["token"] = type(error).__name__
print("FOUND", json.dumps(found))
"""


def test_a_setup_command_with_network_reads_nothing_of_other_repositories(
    github: StandIn, serve: Callable[..., Server], tmp_path: Path
) -> None:
    bot = serve(MENDBOT_AGENT_COMMAND=agent(RIGHT), MENDBOT_SANDBOX="bubblewrap")
    world = github.world
    probe = f"URL, HOME = {bot.url!r}, {str(bot.home)!r}\n{PROBE}"
    policy = f"setup: python3 probe.py\n{POLICY}"
    world.create_repo(SPY, {**FILES, "probe.py": probe, ".github/mendbot.yml": policy})
    world.set_permission(SPY, "ada", "write")
    number = world.create_issue(SPY, "The answer is wrong", "`answer.txt` says 41.", author="ada")
    world.add_label(SPY, number, "auto-fix", "ada")
    logs = bot.home / "artifacts"
    wait_until(lambda: any(logs.glob("*/setup.log")), PATIENCE_S)
    (log,) = logs.glob("*/setup.log")
    said = re.search(r"FOUND (.*)", log.read_text())
    assert said is not None, log.read_text()
    found = json.loads(said[1])
    assert found.pop("/ping") == 200, "it could not reach the port"
    assert (found.pop("files"), found.pop("variables"), found.pop("token")) == ([], [], "FileNotFoundError")
    assert found == {path: [401, 401, 401] for path in found}
    assert (bot.home / "admin-token").stat().st_mode & 0o777 == 0o600
    assert bot.get("/api/sessions")[0] == 200
    assert bot.token not in bot.log.read_text()
