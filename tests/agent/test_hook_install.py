"""The hook in an agent's settings: once, beside everything else, and it works from there."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent import hook
from bot.agent.hook_install import (
    MATCHER,
    command,
    install,
    merged,
    older_installation,
    post_command,
    registrations,
    uninstall,
    without_ours,
)
from bot.errors import UserError

OTHERS: dict[str, Any] = {
    "permissions": {"allow": ["Bash(make:*)"]},
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "logger é"}]}],
        "Stop": [{"hooks": [{"type": "command", "command": "true"}]}],
    },
}


def settings_of(where: Path, name: str = "settings.local.json") -> Path:
    return where / ".claude" / name


def written(where: Path, settings: object, name: str = "settings.local.json") -> Path:
    path = settings_of(where, name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(settings if isinstance(settings, str) else json.dumps(settings), encoding="utf-8")
    return path


def read(where: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(settings_of(where).read_text(encoding="utf-8"))
    return found


def test_a_fresh_directory_gets_the_hooks(tmp_path: Path) -> None:
    """REQ-RA-303: Matcher (spec E): the pre-tool hook is registered for `Edit|Write|Bash|Task` and nothing else."""
    assert install(tmp_path) == settings_of(tmp_path)
    before = {"type": "command", "command": command(), "timeout": 2}
    after = {"type": "command", "command": post_command(), "timeout": 5}
    assert read(tmp_path) == {
        "hooks": {
            "PreToolUse": [{"matcher": "Edit|Write|Bash|Task", "hooks": [before]}],
            "PostToolUse": [{"matcher": "Bash", "hooks": [after]}],
            "PostToolUseFailure": [{"matcher": "Edit|Write|Bash|Task", "hooks": [after]}],
        }
    }


def test_what_was_installed_works_from_the_shell_of_an_agent(tmp_path: Path) -> None:
    install(tmp_path)
    database = sqlite3.connect(tmp_path / "mendbot.db")
    database.execute("CREATE TABLE error_kb (error_normalized TEXT, resolution TEXT, last_used TEXT)")
    database.execute("INSERT INTO error_kb VALUES ('boom in a.py', 'by hand', '1')")
    database.commit()
    database.close()
    line = read(tmp_path)["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    result = subprocess.run(
        ["sh", "-c", line],
        input=b'{"tool_name": "Edit", "tool_input": {"file_path": "a.py"}}',
        capture_output=True,
        cwd="/",
        env={"PATH": os.environ["PATH"], "MENDBOT_HOME": str(tmp_path)},
        check=True,
    )
    assert "by hand" in json.loads(result.stdout)["hookSpecificOutput"]["additionalContext"]
    assert result.stderr == b""


def test_a_failure_that_was_installed_for_is_known_before_the_next_bash(tmp_path: Path) -> None:
    """REQ-RA-302: the session's latest Bash error, noted by the one hook, is what the other one tells of."""
    install(tmp_path)
    database = sqlite3.connect(tmp_path / "mendbot.db")
    database.execute("CREATE TABLE error_kb (error_normalized TEXT, resolution TEXT, last_used TEXT)")
    database.execute("CREATE TABLE events (type TEXT, ts TEXT, session_id TEXT, project TEXT, project_path TEXT, data)")
    database.execute("INSERT INTO error_kb VALUES ('make: no rule', 'by hand', '1')")
    database.commit()
    database.close()
    about = {"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "make"}}
    failed = {**about, "hook_event_name": "PostToolUseFailure", "error": "Exit code 2\nmake: no rule"}
    said = []
    for event, request in (("PostToolUseFailure", failed), ("PreToolUse", about)):
        line = read(tmp_path)["hooks"][event][0]["hooks"][0]["command"]
        env = {"PATH": os.environ["PATH"], "MENDBOT_HOME": str(tmp_path)}
        done = subprocess.run(
            ["sh", "-c", line], input=json.dumps(request).encode(), capture_output=True, cwd="/", env=env, check=True
        )
        assert done.stderr == b""
        said.append(done.stdout)
    assert said[0] == b""
    assert "make: no rule" in json.loads(said[1])["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("line", [command(), post_command()])
def test_a_hook_whose_code_is_gone_does_not_block_the_agent(tmp_path: Path, line: str) -> None:
    package = str(Path(hook.__file__).parents[2])
    # isolated from site packages, where the tests' own copy of the bot may be found
    moved = (
        line.replace(package, str(tmp_path / "gone"))
        .replace(" -I -c", " -I -S -c")
        .replace(str(tmp_path / "gone") + "/.venv", package + "/.venv")
    )
    assert "gone" in moved
    result = subprocess.run(["sh", "-c", moved], input=b"{}", capture_output=True, check=False)
    assert result.returncode == 1  # 2 would mean "block"


def test_everything_else_stays(tmp_path: Path) -> None:
    path = written(tmp_path, OTHERS)
    path.chmod(0o640)
    install(tmp_path)
    after = read(tmp_path)
    own = after["hooks"]["PreToolUse"].pop()
    assert own["matcher"] == MATCHER
    assert after["hooks"].pop("PostToolUse") and after["hooks"].pop("PostToolUseFailure")
    assert after == OTHERS
    assert "é" in path.read_text(encoding="utf-8")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [found.name for found in path.parent.iterdir()] == ["settings.local.json"]


def test_again_it_does_not_touch_the_file(tmp_path: Path) -> None:
    install(tmp_path)
    path = settings_of(tmp_path)
    path.write_text(json.dumps(read(tmp_path)) + "\n\n", encoding="utf-8")  # formatted by somebody else
    before = path.read_bytes(), path.stat().st_mtime_ns
    install(tmp_path)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_an_older_entry_is_replaced_wherever_it_stands(tmp_path: Path) -> None:
    old = {"type": "command", "command": "/old/python -m bot hook pre-tool"}
    other = {"type": "command", "command": "logger"}
    groups = [{"matcher": "*", "hooks": [old, other]}, {"matcher": "Bash", "hooks": [old]}, "odd", {"matcher": "Read"}]
    written(tmp_path, {"hooks": {"PreToolUse": groups}})
    install(tmp_path)
    found = read(tmp_path)["hooks"]["PreToolUse"]
    assert found[:-1] == [{"matcher": "*", "hooks": [other]}, "odd", {"matcher": "Read"}]
    assert found[-1]["hooks"][0]["command"] == command()


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "PostToolUseFailure"])
def test_a_list_that_is_none_is_refused_for_each_event(tmp_path: Path, event: str) -> None:
    written(tmp_path, {"hooks": {event: 7}})
    with pytest.raises(UserError, match=f'"hooks.{event}" must be a list'):
        install(tmp_path)


def test_one_beside_an_older_one_is_left_alone(tmp_path: Path) -> None:
    install(tmp_path)
    wanted = read(tmp_path)
    old = {"type": "command", "command": "/old/python -m bot hook pre-tool"}
    both = {"hooks": {**wanted["hooks"], "PreToolUse": [{"hooks": [old]}, *wanted["hooks"]["PreToolUse"]]}}
    written(tmp_path, both)
    install(tmp_path)
    assert read(tmp_path) == wanted


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("\ufeff{}", encoding="utf-8")
    settings_of(tmp_path).parent.mkdir()
    settings_of(tmp_path).symlink_to("../real.json")
    install(tmp_path)
    assert settings_of(tmp_path).is_symlink()
    assert "PreToolUse" in read(tmp_path)["hooks"]


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("{", "not valid JSON (line 1"),
        ('{\n // mine\n "a": 1}', "not valid JSON (line 2"),
        ("[]", "a JSON object"),
        ('{"a": 1, "a": 2}', 'the key "a" occurs twice'),
        ('{"hooks": []}', '"hooks" must be an object'),
        ('{"hooks": {"PreToolUse": {}}}', '"hooks.PreToolUse" must be a list'),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_settings_that_are_broken_are_refused_and_left_alone(tmp_path: Path, broken: str, why: str) -> None:
    path = written(tmp_path, broken)
    with pytest.raises(UserError) as refused:
        install(tmp_path)
    assert why in str(refused.value) and str(path) in str(refused.value)
    assert path.read_text(encoding="utf-8") == broken


def test_the_users_own_settings_in_their_home_are_settings_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody commits those, and agents read no other file there."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert install(tmp_path) == settings_of(tmp_path, "settings.json")
    assert older_installation(tmp_path) is None
    assert uninstall(tmp_path) == (settings_of(tmp_path, "settings.json"),)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("indent", [2, 4, "\t"])
def test_undo_leaves_the_file_as_it_was(tmp_path: Path, indent: int | str) -> None:
    path = written(tmp_path, json.dumps(OTHERS, indent=indent, ensure_ascii=False))
    before = path.read_bytes()
    install(tmp_path)
    assert path.read_bytes() != before
    assert uninstall(tmp_path) == (path,)
    assert path.read_bytes() == before
    assert uninstall(tmp_path) == ()
    assert path.read_bytes() == before


def test_undo_removes_a_file_that_holds_nothing_else(tmp_path: Path) -> None:
    install(tmp_path)
    assert uninstall(tmp_path) == (settings_of(tmp_path),)
    assert list(tmp_path.iterdir()) == []


def test_undo_of_a_link_empties_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("{}")
    settings_of(tmp_path).parent.mkdir()
    settings_of(tmp_path).symlink_to("../real.json")
    install(tmp_path)
    assert uninstall(tmp_path) == (tmp_path / "real.json",)
    assert json.loads(settings_of(tmp_path).read_text()) == {}


def test_what_an_earlier_version_wrote_into_the_shared_settings_is_found_and_undone(tmp_path: Path) -> None:
    hooks = {event: [group] for event, group in registrations().items()}
    shared = written(tmp_path, {**OTHERS, "hooks": {**OTHERS["hooks"], **hooks}}, "settings.json")
    before = shared.read_bytes()
    assert older_installation(tmp_path) == shared
    install(tmp_path)
    assert shared.read_bytes() == before
    assert uninstall(tmp_path) == (settings_of(tmp_path), shared)
    kept = {event: groups for event, groups in OTHERS["hooks"].items() if event not in hooks}
    assert json.loads(shared.read_text()) == {**OTHERS, "hooks": kept}
    assert not settings_of(tmp_path).exists()


def test_undo_writes_nothing_where_one_file_is_broken(tmp_path: Path) -> None:
    install(tmp_path)
    before = settings_of(tmp_path).read_bytes()
    broken = written(tmp_path, "{ // " + command(), "settings.json")
    with pytest.raises(UserError, match="not valid JSON"):
        uninstall(tmp_path)
    assert settings_of(tmp_path).read_bytes() == before
    broken.write_text("{ // somebody else's")
    assert uninstall(tmp_path) == (settings_of(tmp_path),)
    assert broken.read_text() == "{ // somebody else's"


def test_a_hook_with_a_similar_name_is_none_of_ours(tmp_path: Path) -> None:
    other = {"hooks": [{"type": "command", "command": "my-hook pre-tool"}]}
    path = written(tmp_path, json.dumps({"hooks": {"PreToolUse": [other]}}, indent=2) + "\n")
    before = path.read_bytes()
    install(tmp_path)
    assert read(tmp_path)["hooks"]["PreToolUse"][0] == other
    uninstall(tmp_path)
    assert path.read_bytes() == before


def test_a_directory_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such directory"):
        install(tmp_path / "missing")
    (tmp_path / ".claude").write_text("a file", encoding="utf-8")
    with pytest.raises(UserError, match="cannot be"):
        install(tmp_path)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["hooks", "command", "x"]), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.text(max_size=5), _JSON), st.lists(_JSON, max_size=4), st.dictionaries(st.text(), _JSON))
def test_merging_adds_one_group_and_loses_nothing(
    top: dict[str, Any], groups: list[Any], hooks: dict[str, Any]
) -> None:
    settings = {**top, "hooks": {**hooks, "PreToolUse": groups}}
    wanted = {"PreToolUse": registrations()["PreToolUse"]}
    once = merged(settings, wanted, Path("settings.json"))
    assert once["hooks"]["PreToolUse"][:-1] == groups
    assert {**once, "hooks": {**once["hooks"], "PreToolUse": groups}} == settings
    assert merged(once, wanted, Path("settings.json")) == once
    if groups:  # an empty list goes with what was added to it
        assert without_ours(once) == settings
