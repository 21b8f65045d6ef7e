"""Whose directory a home is: Mendbot takes a new one or its own, an older version's too, and leaves any other alone."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.forked_bot import run_bot
from tests.machine import PATIENCE_S

SECRET = "home-secret-0123456789-abcdefghij"


@dataclass(frozen=True, slots=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def mendbot(*args: str, home: Path, **more: str) -> Done:
    env = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
    env |= {"MENDBOT_HOME": str(home), "MENDBOT_ALLOW_ROOT": "1", **more}
    done = run_bot(*args, env=env, timeout=PATIENCE_S)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An App's variables; a server that has got past its home stops at its port."""
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2048)
    form, plain = serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    path = tmp_path_factory.mktemp("app") / "app.pem"
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
    known = {"APP_ID": "1", "PRIVATE_KEY_PATH": str(path), "WEBHOOK_SECRET": SECRET, "PORT": "70000"}
    return {**known, "MENDBOT_GITHUB_API_URL": "http://127.0.0.1:9"}


def content(home: Path) -> Mapping[str, bytes]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in home.rglob("*")}


def others_database(home: Path) -> None:
    with sqlite3.connect(home / "mendbot.db") as database:
        database.execute("PRAGMA application_id = 7")
        database.execute("CREATE TABLE other (id)")
    database.close()


def precious(home: Path) -> None:
    (home / "artifacts" / "thesis").mkdir(parents=True)
    (home / "artifacts" / "thesis" / "final.tex").write_text("precious")


def one_file(home: Path) -> None:
    (home / ".profile").touch()


def half_a_database(home: Path) -> None:
    (home / "mendbot.db").write_bytes(b"SQLite for")


@pytest.mark.parametrize("fill", [others_database, precious, one_file, half_a_database])
def test_serve_refuses_a_home_of_somebody_elses_and_leaves_it_as_it_was(
    tmp_path: Path, app: dict[str, str], fill: Callable[[Path], None]
) -> None:
    fill(tmp_path)
    before = content(tmp_path)
    done = mendbot("serve", home=tmp_path, **app)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stderr.startswith("mendbot: MENDBOT_HOME: ") and "name " in done.stderr
    assert len(done.stderr.split()) <= 25
    assert content(tmp_path) == before


@pytest.mark.parametrize("args", [("a.py",), ("--error", "boom"), ("export",)])
@pytest.mark.parametrize("fill", [others_database, precious])
def test_reading_works_in_any_home_and_leaves_it_as_it_was(
    tmp_path: Path, args: tuple[str, ...], fill: Callable[[Path], None]
) -> None:
    fill(tmp_path)
    before = content(tmp_path)
    done = mendbot("history", *args, home=tmp_path)
    assert (done.returncode, done.stderr) == (0 if args == ("export",) else 1, "")
    assert content(tmp_path) == before


def test_nothing_is_recorded_in_another_programs_database(tmp_path: Path) -> None:
    others_database(tmp_path)
    before = content(tmp_path)
    done = mendbot("history", "record", "--error", "boom", "--how", "so", home=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    assert "another program's" in done.stderr
    assert content(tmp_path) == before


def test_a_session_in_a_home_that_cannot_be_used_is_bad_input(tmp_path: Path) -> None:
    session = ("fix", "--repo", str(tmp_path), "--task", "t", "--validation-command", "true")
    done = mendbot(*session, home=Path("/dev/null"))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert "MENDBOT_HOME" in done.stderr


def test_a_home_of_an_older_version_is_closed_to_everybody_else(tmp_path: Path, app: dict[str, str]) -> None:
    home = tmp_path / "home"
    assert "there is no port 70000" in mendbot("serve", home=home, **app).stderr
    ours = [home, *(path.parent for path in home.glob("*/.mendbot"))]
    for directory in ours:
        directory.chmod(0o755)
    assert "there is no port 70000" in mendbot("serve", home=home, **app).stderr
    assert {directory.stat().st_mode & 0o777 for directory in ours} == {0o700}


def test_a_session_closes_what_is_mendbots_and_leaves_the_rest(tmp_path: Path) -> None:
    home, tree = tmp_path / "home", tmp_path / "tree"
    for directory in (home / "artifacts", tree):
        directory.mkdir(parents=True)
    for directory in (home, home / "artifacts"):
        directory.chmod(0o755)
    session = ("fix", "--repo", str(tree), "--task", "t", "--validation-command", "false", "--agent", "command:true")
    assert mendbot(*session, home=home).returncode == 1
    assert (home / "artifacts").stat().st_mode & 0o777 == 0o700
    assert home.stat().st_mode & 0o777 == 0o755  # it may be anybody's: nothing marks it
    (home / ".mendbot").write_text((home / "artifacts" / ".mendbot").read_text())
    assert mendbot(*session, home=home).returncode == 1
    assert home.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ["new", "with a database of ours", "on a new disk", "empty"])
def test_serve_takes_a_new_home_and_its_own(tmp_path: Path, app: dict[str, str], name: str) -> None:
    home = tmp_path / "home"
    if name != "new":
        home.mkdir()
    if name == "on a new disk":
        (home / "lost+found").mkdir()
    if name == "with a database of ours":
        assert mendbot("history", "record", "--error", "boom", "--how", "so", home=home).returncode == 0
        precious(home)
    for _ in range(2):
        done = mendbot("serve", home=home, **app)
        assert "there is no port 70000" in done.stderr, done.stderr
    (home / "mendbot.db").unlink(missing_ok=True)  # its mark is enough
    assert "there is no port 70000" in mendbot("serve", home=home, **app).stderr


def test_a_home_of_ours_is_known_right_after_a_crash(tmp_path: Path, app: dict[str, str]) -> None:
    """The database's first page is still in its log."""
    home, server = tmp_path / "home", tmp_path / "server"
    home.mkdir()
    server.mkdir()
    database = sqlite3.connect(server / "mendbot.db", isolation_level=None)
    for statement in ("PRAGMA journal_mode=WAL", "PRAGMA application_id = 0x4D454E44", "CREATE TABLE t (id)"):
        database.execute(statement)
    for path in server.iterdir():
        if not path.name.endswith("-shm"):
            shutil.copy(path, home)
    database.close()
    assert (home / "mendbot.db").read_bytes()[68:72] != b"MEND"
    assert "there is no port 70000" in mendbot("serve", home=home, **app).stderr
