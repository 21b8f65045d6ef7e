"""`mendbot` as an operator meets it: exit codes, and one line that says what was wrong and how to fix it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from bot.cli import main
from tests.forked_bot import run_bot
from tests.machine import PATIENCE_S, kept_port

SECRET = "cli-secret-0123456789-abcdefghijkl"
CANARY = "canary-that-nobody-should-see"


def pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> str:
    form, plain = serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, form, plain).decode()


def mendbot(*args: str) -> subprocess.CompletedProcess[str]:
    """`python -m bot` itself."""
    argv = [sys.executable, "-m", "bot", *args]
    return subprocess.run(argv, env=os.environ, capture_output=True, text=True, timeout=PATIENCE_S)


def serve(*args: str, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """`mendbot serve` to its end."""
    done = run_bot("serve", *args, env=env, timeout=PATIENCE_S)
    return subprocess.CompletedProcess(args, done.returncode, done.stdout.decode(), done.stderr.decode())


class Case:
    """What is changed in a good configuration (None: unset), the arguments, and what the one line must name."""

    def __init__(self, *words: str, args: tuple[str, ...] = (), **changed: str | None) -> None:
        self.words, self.args, self.changed = words, args, changed


CASES = {
    "no secret": Case("WEBHOOK_SECRET", "not set", WEBHOOK_SECRET=None),
    "empty secret": Case("WEBHOOK_SECRET", "not set", WEBHOOK_SECRET=""),
    "well-known secret": Case("WEBHOOK_SECRET", "too weak", "openssl", WEBHOOK_SECRET="development"),
    "short secret": Case("WEBHOOK_SECRET", "too weak", WEBHOOK_SECRET="0123456789abcdefghijklmnopqrstu"),
    "weak second secret": Case("WEBHOOK_SECRET", "too weak", WEBHOOK_SECRET=f"{SECRET},changeme"),
    "no app id": Case("APP_ID", APP_ID=None),
    "app id that is a name": Case("APP_ID", "`abc`", "number", APP_ID="abc"),
    "roots that are not there": Case("MENDBOT_WORKSPACE_ROOTS", "/nowhere", MENDBOT_WORKSPACE_ROOTS="/:/nowhere"),
    "roots that are files": Case("MENDBOT_WORKSPACE_ROOTS", "/dev/null", MENDBOT_WORKSPACE_ROOTS="/dev/null"),
    "no key": Case("PRIVATE_KEY_PATH", PRIVATE_KEY_PATH=None),
    "key that is not there": Case("PRIVATE_KEY_PATH", "No such file", PRIVATE_KEY_PATH="/nowhere/app.pem"),
    "key that is a directory": Case("PRIVATE_KEY_PATH", "directory", PRIVATE_KEY_PATH="/"),
    "key that is no PEM": Case("PRIVATE_KEY_PATH", "cannot be read", PRIVATE_KEY=CANARY),
    "key of another kind": Case("RSA", PRIVATE_KEY="EC"),
    "unknown agent": Case("wizard", "fixers", MENDBOT_AGENTS="fixers,wizard"),
    "unknown log level": Case("LOG_LEVEL", "loud", "debug", LOG_LEVEL="loud"),
    "unknown log format": Case("LOG_FORMAT", "xml", "json", LOG_FORMAT="xml"),
    "port that is no number": Case("PORT", PORT="x"),
    "port that does not exist": Case("70000", "65535", PORT="70000"),
    "metadata service as API": Case("MENDBOT_GITHUB_API_URL", MENDBOT_GITHUB_API_URL="http://169.254.169.254"),
    "git over plain HTTP": Case("MENDBOT_GITHUB_URL", "https", MENDBOT_GITHUB_URL="http://git.example.org"),
    "git by a program": Case("MENDBOT_GITHUB_URL", "https", MENDBOT_GITHUB_URL="ext::sh -c id"),
    "no worktree at all": Case("MENDBOT_MAX_WORKTREES", "1", MENDBOT_MAX_WORKTREES="0"),
    "no worker at all": Case("MENDBOT_WORKERS", "1", MENDBOT_WORKERS="0"),
    "a wait before now": Case("MENDBOT_QUIET_SECONDS", "0", MENDBOT_QUIET_SECONDS="-1"),
    "half a JSON array": Case("MENDBOT_AGENT_COMMAND", "JSON", MENDBOT_AGENT_COMMAND='["a"'),
    "half a shell quote": Case("MENDBOT_AGENT_COMMAND", MENDBOT_AGENT_COMMAND="agent 'a"),
    "unknown sandbox": Case("MENDBOT_SANDBOX", "bubblewrap", MENDBOT_SANDBOX="landlock"),
    "unknown language": Case("MENDBOT_LANGUAGE", "ko", MENDBOT_LANGUAGE="fr"),
    "home that is a file": Case("MENDBOT_HOME", MENDBOT_HOME="/dev/null"),
    "another kind of database": Case("MENDBOT_DATABASE_URL", MENDBOT_DATABASE_URL=f"mysql://me:{CANARY}@host/x"),
    "no database URL at all": Case("MENDBOT_DATABASE_URL", MENDBOT_DATABASE_URL=f"me:{CANARY}@host"),
    "Postgres that is not there": Case(
        "MENDBOT_DATABASE_URL", MENDBOT_DATABASE_URL=f"postgresql://me:{CANARY}@127.0.0.1:1/x"
    ),
    "receiver alone on SQLite": Case("Postgres", args=("--role", "receiver")),
    "worker alone on SQLite": Case("Postgres", args=("--role", "worker")),
    "unknown role": Case("role", args=("--role", "king")),
    "unknown option": Case("--prot", args=("--prot", "1")),
}
if os.geteuid() == 0:
    CASES["root"] = Case("root", "MENDBOT_ALLOW_ROOT", MENDBOT_ALLOW_ROOT=None)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a server that would start."""
    root = tmp_path_factory.mktemp("cli")
    key = root / "app.pem"
    key.write_text(pem(rsa.generate_private_key(public_exponent=65_537, key_size=2048)))
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    return {
        **inherited,
        "APP_ID": "1234",
        "PRIVATE_KEY_PATH": str(key),
        "WEBHOOK_SECRET": SECRET,
        "PORT": str(kept_port()),
        "MENDBOT_HOME": str(root / "home"),
        "MENDBOT_ALLOW_ROOT": "1",
        "MENDBOT_GITHUB_API_URL": "http://127.0.0.1:9",
    }


@pytest.mark.parametrize("name", CASES)
def test_a_server_that_cannot_start_says_so_in_one_line_and_exits_2(good: dict[str, str], name: str) -> None:
    changed = dict(CASES[name].changed)
    if changed.get("PRIVATE_KEY") == "EC":
        changed["PRIVATE_KEY"] = pem(ec.generate_private_key(ec.SECP256R1()))
    env = {name: value for name, value in {**good, **changed}.items() if value is not None}
    done = serve(*CASES[name].args, env=env)
    err = done.stderr
    assert done.returncode == 2, err
    assert done.stdout == ""
    assert err.startswith("mendbot: ")
    assert err.count("\n") == 1, err
    assert all(word in err for word in CASES[name].words), err
    assert CANARY not in err
    assert SECRET not in err


@pytest.fixture
def running(good: dict[str, str], tmp_path: Path) -> Iterator[dict[str, str]]:
    """A server that runs, and its environment."""
    env = {**good, "MENDBOT_HOME": str(tmp_path / "home"), "PORT": str(kept_port())}
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "bot", "serve"], env=env, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not answers_ping(env["PORT"]):
            assert process.poll() is None and time.monotonic() < deadline, (tmp_path / "log").read_text()
            time.sleep(0.05)
        yield env
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    finally:
        process.kill()
        process.wait()


def answers_ping(port: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ping", timeout=PATIENCE_S) as answer:
            return answer.status == 200
    except OSError:
        return False


def test_a_second_server_is_told_what_is_taken_and_the_first_one_goes_on(
    running: dict[str, str], tmp_path: Path
) -> None:
    same_home = serve(env={**running, "PORT": str(kept_port())})
    assert same_home.returncode == 2
    assert same_home.stderr.startswith("mendbot: another `mendbot serve` uses ")
    assert same_home.stderr.count("\n") == 1
    same_port = serve(env={**running, "MENDBOT_HOME": str(tmp_path / "other")})
    assert same_port.returncode == 2
    assert f"port {running['PORT']}" in same_port.stderr
    assert "in use" in same_port.stderr
    assert same_port.stderr.count("\n") == 1
    assert answers_ping(running["PORT"])


def test_the_port_option_wins_over_the_variable(good: dict[str, str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = serve("--port", str(port), env=good)
    assert answer.returncode == 2
    assert f"port {port}" in answer.stderr


def test_help_names_the_commands_and_their_options() -> None:
    whole, serve = mendbot("--help"), mendbot("serve", "--help")
    assert (whole.returncode, serve.returncode) == (0, 0)
    assert "serve" in whole.stdout and "check" in whole.stdout
    assert "--port" in serve.stdout and "the port to listen on" in serve.stdout
    assert whole.stderr == serve.stderr == ""


COMMANDS = """
|serve|check|fix|agent|agent check|group|worktree|worktree create|worktree cleanup|worktree list|hook
|hook install|doctor|init|replay|history|history record|history export|history import|config|config check
|config schema|mcp|relay|completion|setup
"""


@pytest.mark.parametrize("command", [name.strip() for name in COMMANDS.split("|")])
def test_help_has_a_line_for_each_option_and_each_command(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert main([*command.split(), "--help"]) == 0
    out = capsys.readouterr().out
    rows = [line for line in out.splitlines() if line.startswith("│")]
    assert [row for row in rows if row.startswith("│        ")] == []  # the rest of an option's text
    assert "--empty-" not in out and "None" not in out and "()" not in out
    assert "Exit codes: 0 done and passed" in out


def test_the_version_is_the_packages() -> None:
    from importlib.metadata import version

    answer = mendbot("--version")
    assert (answer.returncode, answer.stdout.strip()) == (0, version("mendbot"))


def test_an_unknown_command_is_bad_input() -> None:
    answer = mendbot("serv")
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert answer.stderr.count("\n") == 1
    assert "serv" in answer.stderr and "--help" in answer.stderr


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["config", "check", "nowhere.yml"], 2),
        (["config", "check", "broken.yml"], 1),
        (["check", "nowhere"], 2),
        (["check", ""], 2),
        (["history"], 2),
        (["history", "record", "--error", "x", "--how", " "], 2),
        (["worktree", "create", "--issue", "one"], 2),
        (["serve", "--role", "receiver"], 2),
        (["nosuch"], 2),
    ],
)
def test_answers_and_errors_are_in_the_language_of_the_terminal(
    args: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.yml").write_text("max_attempts: x\n")
    monkeypatch.setenv("MENDBOT_HOME", str(tmp_path / "home"))
    for language, korean in (("en", False), ("ko", True)):
        monkeypatch.setenv("MENDBOT_LANGUAGE", language)
        assert main(list(args)) == code
        printed = "".join(capsys.readouterr())
        assert bool(re.search("[가-힣]", printed)) is korean, printed


def test_wrong_settings_are_named_with_their_variables(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MENDBOT_AGENT_COMMAND", "[1")
    monkeypatch.setenv("MENDBOT_WORKERS", "0")
    assert main(["history", "a.py"]) == 2
    told = capsys.readouterr().err
    assert "MENDBOT_AGENT_COMMAND: is neither a JSON array nor a shell-quoted line: " in told
    assert "; MENDBOT_WORKERS: Input should be greater than or equal to 1" in told
