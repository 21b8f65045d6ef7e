"""What a command finds in the box, its network, and what happens where there is no box (T30)."""

from __future__ import annotations

import http.server
import json
import os
import secrets
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.errors import ConfigError
from bot.workspace.sandbox.bubblewrap import SandboxGrant, find_registry_access
from bot.workspace.sandbox.check_tools import Tools
from bot.workspace.sandbox.sandbox import Sandbox, open_sandbox
from tests.workspace.sandbox.sandboxed_commands import ROOT, passes, run, sleepers


def test_it_says_what_it_is_in_one_line(box: Sandbox) -> None:
    assert box.level == "bubblewrap" and not box.trusted_only
    assert box.describe().startswith("bubblewrap 0.") and "\n" not in box.describe()
    assert ("as root" in box.describe()) == (os.geteuid() == 0)


async def test_the_tree_is_at_its_own_path_and_edits_stay(box: Sandbox, tree: Path) -> None:
    (tree / "old").write_text("old")
    assert await passes(box, tree, "pwd; cat old; echo new > new; rm old") == f"{tree}\nold"
    assert (tree / "new").read_text() == "new\n"
    assert not (tree / "old").exists()


async def test_edits_elsewhere_fail_or_vanish(box: Sandbox, tree: Path) -> None:
    beside = tree.parent / "beside"
    beside.write_text("canary")
    probe = "for d in /usr / /dev /etc /home; do touch $d/x 2>/dev/null && echo it wrote; done; touch /tmp/mine ~/mine"
    said = await passes(box, tree, f"{probe}; cat {beside} 2>&1 || true; echo gone > {beside} || true")
    assert "it wrote" not in said and "canary" not in said
    assert beside.read_text() == "canary"
    assert "mine" not in await passes(box, tree, "ls -A /tmp ~")


@pytest.mark.parametrize(
    "argv",
    [
        ("node", "-e", "console.log(1)"),
        ("python", "-c", "import multiprocessing as m; print(m.Pool(2).map(abs, [-1])[0])"),
        ("python3", "-c", "import sqlite3, ssl; print(1)"),
        ("sh", "-c", "echo 1 | tee /dev/stderr 2>/dev/null"),
    ],
)
async def test_tools_run(box: Sandbox, tree: Path, argv: tuple[str, ...]) -> None:
    assert await passes(box, tree, *argv) == "1\n"


async def test_pytest_mypy_and_ruff_run(box: Sandbox, tree: Path) -> None:
    (tree / "test_it.py").write_text("def test_it(tmp_path) -> None:\n    assert tmp_path\n")
    assert "1 passed" in await passes(box, tree, "pytest", "-q")
    assert "Success" in await passes(box, tree, "mypy", "test_it.py")
    assert "All checks passed" in await passes(box, tree, "ruff", "check")


async def test_the_trees_own_tools_come_first(box: Sandbox, tree: Path, tmp_path: Path) -> None:
    chain = tmp_path / "chain"
    for place, word in ((tree / "node_modules" / ".bin", "own"), (chain / "bin", "chain")):
        place.mkdir(parents=True)
        for name in ("pytest", word):
            (place / name).write_text(f"#!/bin/sh\necho {word}\n")
            (place / name).chmod(0o755)
    assert await passes(box, tree, "pytest", "x") == "own\n"
    with_chain = await open_sandbox("bubblewrap", [chain])
    assert await passes(with_chain, tree, "chain; pytest; rm -f $(command -v chain) 2>/dev/null || echo kept") == (
        "chain\nown\nkept\n"
    )


async def test_the_environment_is_the_short_list_and_the_grant(
    box: Sandbox, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBHOOK_SECRET", "canary")
    said = await passes(box, tree, "env", "-0", grant=SandboxGrant(env={"EXTRA": "a=b"}))
    variables = dict(line.split("=", 1) for line in said.split("\0") if line)
    path = variables.pop("PATH").split(":")
    tools = [str(directory / "bin") for directory in Tools().available()]
    assert path == [*tools, *dict.fromkeys([f"{sys.base_prefix}/bin", "/usr/local/bin", "/usr/bin", "/bin"])]
    assert not any(Path(entry).is_relative_to(Path(sys.prefix) / "bin") for entry in path)
    assert variables == {
        "HOME": "/home/bot",
        "LANG": "C.UTF-8",
        "CI": "true",
        "GOCACHE": "/tmp/go-build",
        "GOTOOLCHAIN": "local",
        "GOPROXY": "off",
        "CARGO_NET_OFFLINE": "true",
        "PWD": str(tree),
        "EXTRA": "a=b",
    }


async def test_what_the_loader_reads_is_set_inside_alone(box: Sandbox, tree: Path) -> None:
    said = await passes(
        box, tree, "cat /proc/1/environ; echo; env", grant=SandboxGrant(env={"LD_LIBRARY_PATH": "/nowhere"})
    )
    outside, _, inside = said.partition("\n")
    assert "LD_" not in outside and "LD_LIBRARY_PATH=/nowhere\n" in inside


async def test_input_reaches_the_command(box: Sandbox, tree: Path) -> None:
    assert (await run(box, tree, "cat", "-", stdin=b"told")).output == b"told"


async def test_a_missing_program_is_told_as_outside(box: Sandbox, tree: Path) -> None:
    outside = await open_sandbox("none", ())
    for sandbox in (box, outside):
        result = await run(sandbox, tree, "no-such-program", "x")
        assert (result.exit_code, result.output) == (None, b"")
        assert result.spawn_error == "No such file or directory: no-such-program"


@pytest.fixture
def port() -> Iterator[int]:
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"reached")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


async def test_only_with_the_network_is_there_one(box: Sandbox, tree: Path, port: int) -> None:
    fetch = f"import urllib.request as u; print(u.urlopen('http://127.0.0.1:{port}', timeout=3).read())"
    without = await run(box, tree, "python", "-c", fetch)
    assert without.exit_code != 0 and b"Connection refused" in without.output
    assert "reached" in await passes(box, tree, "python", "-c", fetch, grant=SandboxGrant(network=True))


async def test_abstract_sockets_and_metadata_are_out_of_reach(box: Sandbox, tree: Path) -> None:
    name = f"\0mendbot-{secrets.token_hex(8)}"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(name)
        listener.listen()
        script = (
            "import socket\n"
            "for family, place in ((1, %r), (2, ('169.254.169.254', 80))):\n"
            "    s = socket.socket(family); s.settimeout(2)\n"
            "    print(s.connect_ex(place) != 0)\n"
        )
        assert await passes(box, tree, "python", "-c", script % name) == "True\nTrue\n"


async def test_inside_a_loopback_of_its_own_works(box: Sandbox, tree: Path) -> None:
    script = "import socket; s = socket.create_server(('localhost', 0)); socket.create_connection(s.getsockname())"
    await passes(box, tree, "python", "-c", script)


async def test_package_settings_come_with_the_network_alone(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    monkeypatch.setenv("PIP_FIND_LINKS", f"file://{wheels} /no/such/place")
    monkeypatch.setenv("PRIVATE_KEY", "canary")
    sandbox = await open_sandbox("auto", ())
    if sandbox.level != "bubblewrap":
        pytest.skip(sandbox.describe())
    look = f"echo ${{PIP_FIND_LINKS:-unset}} ${{PRIVATE_KEY:-unset}}; test -d {wheels} && echo there || echo absent"
    assert await passes(sandbox, tree, look) == "unset unset\nabsent\n"
    said = await passes(sandbox, tree, look, grant=SandboxGrant(network=True))
    assert said == f"file://{wheels} /no/such/place unset\nthere\n"


def test_package_settings_name_what_may_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    configuration = tmp_path / "pip.conf"
    constraint = tmp_path / "constraints.txt"
    constraint.write_text("")
    configuration.write_text(f"[global]\nconstraint={constraint}\nindex-url = https://packages.invalid/simple\n")
    found = find_registry_access(
        {
            "PIP_CONFIG_FILE": str(configuration),
            "SSL_CERT_DIR": f"{tmp_path / 'home'}:/",
            "https_proxy": "http://proxy.invalid:3128",
            "WEBHOOK_SECRET": "canary",
        }
    )
    assert set(found.env) == {"PIP_CONFIG_FILE", "SSL_CERT_DIR", "https_proxy"}
    assert {configuration, constraint} <= set(found.paths)
    assert not {Path("/"), tmp_path, tmp_path / "home"} & set(found.paths)


async def test_none_scrubs_the_environment_and_nothing_else(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIVATE_KEY", "canary")
    monkeypatch.setenv("HOME", "/some/home")
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/from/the/bot")
    sandbox = await open_sandbox("none", ())
    assert (sandbox.level, sandbox.trusted_only) == ("none", False)
    assert sandbox.describe() == "none: checks run as this user, with this machine's files"
    said = await passes(sandbox, tree, "env; ls /")
    assert "canary" not in said and "HOME=/some/home\n" in said and "CI=true\n" in said
    assert ":/from/the/bot" in said and "\nproc\n" in said


async def test_none_still_kills_what_tries_to_stay(tree: Path) -> None:
    sandbox = await open_sandbox("none", ())
    mark = f"60.{secrets.randbelow(10**9)}"
    for _ in range(5):
        assert (await run(sandbox, tree, f"setsid sleep {mark} & echo ok")).output == b"ok\n"
    assert sleepers(mark) == []


async def test_a_missing_toolchain_is_the_operators_mistake(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="MENDBOT_TOOLCHAINS"):
        await open_sandbox("none", [tmp_path / "nothing"])


NESTED = """
import asyncio, json, sys
from pathlib import Path
from bot.errors import UserError
from bot.model import ShellCommand
from bot.workspace.sandbox.sandbox import open_sandbox
async def main(mode):
    sandbox = await open_sandbox(mode, ())
    try:
        said = (await sandbox.run(ShellCommand(run="echo ran", timeout_s=100), Path.cwd())).output.decode()
    except UserError as error:
        said = str(error)
    print(json.dumps([sandbox.level, sandbox.trusted_only, sandbox.describe(), said]))
asyncio.run(main(sys.argv[1]))
"""


@pytest.mark.parametrize("mode", ["auto", "bubblewrap"])
async def test_where_no_box_works_it_says_so(box: Sandbox, tree: Path, mode: str) -> None:
    # a place where user namespaces are forbidden is at hand: the box itself
    grant = SandboxGrant(read_only=(ROOT / "bot", Path(sys.prefix)), env={"PYTHONPATH": str(ROOT)})
    level, trusted_only, line, said = json.loads(
        await passes(box, tree, sys.executable, "-c", NESTED, mode, grant=grant)
    )
    if mode == "auto":
        assert (level, trusted_only, said) == ("none", True, "ran\n")
        assert line.startswith("none: the sandbox does not work here (bwrap: ")
    else:
        assert (level, trusted_only) == ("refused", False)
        assert "bwrap: " in line and "MENDBOT_SANDBOX=none" in said
