"""The kit on the bot's side: made, healed, and its spool read back as a stranger's."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.agent.hook_bundle import MAX_ERRORS, HookBundle, ToolError, make_bundle, read_spool, remove_bundle
from bot.agent.hook_post import MAX_LINE, MAX_SPOOL
from tests.machine import CPU_S

GOOD = {"tool": "Bash", "error": "boom", "session_id": "s1", "ts": "2026-01-01T00:00:00.000+00:00", "errorRaw": "a\nb"}
READ = ToolError("Bash", "boom", "s1", raw="a\nb", ts="2026-01-01T00:00:00.000+00:00")


def line(**fields: object) -> bytes:
    return json.dumps({**GOOD, **fields}).encode() + b"\n"


def spooled(tmp_path: Path, content: bytes) -> tuple[ToolError, ...]:
    path = tmp_path / "spool"
    path.write_bytes(content)
    return read_spool(path)


def test_what_was_noted_is_read_in_order(tmp_path: Path) -> None:
    assert spooled(tmp_path, line() + line(error="later")) == (
        READ,
        ToolError("Bash", "later", "s1", READ.raw, READ.ts),
    )
    assert spooled(tmp_path, line().rstrip()) == (READ,)


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"{\n",
        b"[]\n",
        b"null\n",
        b"7\n",
        b"\xff\xfe\n",
        b"\0" * 500 + b"\n",
        b"[" * 4000 + b"\n",
        line(tool=""),
        line(error=None),
        line(error=7),
        line(session_id=[]),
        line(error="\x1b[31m\x07 \n"),
        line(errorRaw="x" * MAX_LINE),
    ],
)
def test_a_bad_line_tells_nothing_and_spoils_no_other(tmp_path: Path, bad: bytes) -> None:
    assert spooled(tmp_path, line() + bad + line()) == (READ, READ)


def test_fields_are_cut_cleaned_and_of_one_line(tmp_path: Path) -> None:
    (error,) = spooled(tmp_path, line(error="\x1b[31ma\x07\n\nb" + "x" * 500, tool="T" * 500, errorRaw="\ud800\0c"))
    assert error.error == "a b" + "x" * 197
    assert len(error.tool) == 200
    assert error.raw == "?c"


def test_a_huge_spool_is_read_by_its_end(tmp_path: Path) -> None:
    path = tmp_path / "spool"
    with path.open("wb") as file:
        file.truncate(50_000_000_000)  # holes
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + line())
    began = time.process_time()
    assert read_spool(path) == (READ,)
    assert time.process_time() - began < CPU_S
    many = spooled(tmp_path, b"".join(line(error=f"e{number}") for number in range(MAX_SPOOL // 100)))
    assert len(many) == MAX_ERRORS
    assert many[-1].error == f"e{MAX_SPOOL // 100 - 1}"
    path.unlink()


def odd(path: Path, kind: str, aim: Path) -> None:
    """Something else in a file's place."""
    path.unlink(missing_ok=True)
    match kind:
        case "link":
            path.symlink_to(aim)
        case "dangling":
            path.symlink_to(aim.with_name("nowhere"))
        case "pipe":
            os.mkfifo(path)
        case "directory":
            path.mkdir()
            (path / "full").write_bytes(line())


@pytest.mark.parametrize("kind", ["link", "dangling", "pipe", "directory", "missing"])
def test_what_is_no_file_tells_nothing_and_is_replaced(tmp_path: Path, kind: str) -> None:
    aim = tmp_path / "secret"
    aim.write_bytes(line())
    kit = make_bundle(tmp_path / "kit")
    odd(kit.spool, kind, aim)
    assert read_spool(kit.spool) == ()
    healed = make_bundle(kit.root).spool
    assert healed.is_file() and not healed.is_symlink(), "the box would be given what it points to"
    assert make_bundle(kit.root).take_errors() == ()
    odd(kit.spool, kind, aim)
    assert kit.take_errors() == ()
    assert kit.spool.read_bytes() == b"" and not kit.spool.is_symlink()
    assert aim.read_bytes() == line(), "it was written through the link"


def test_taking_empties_the_spool_and_making_again_does_not(tmp_path: Path) -> None:
    kit = make_bundle(tmp_path / "kits" / "run")
    kit.spool.write_bytes(line())
    assert make_bundle(kit.root) == kit
    assert kit.take_errors() == (READ,)
    assert kit.take_errors() == ()
    remove_bundle(kit.root)
    remove_bundle(kit.root)
    assert list((tmp_path / "kits").iterdir()) == []


def test_the_settings_register_the_hooks_and_the_environment_leads_to_them(tmp_path: Path) -> None:
    kit = make_bundle(tmp_path / "kit", language="ko")
    hooks: dict[str, list[dict[str, Any]]] = json.loads(kit.settings.read_text())["hooks"]
    assert [group["matcher"] for group in hooks["PreToolUse"]] == ["Edit|Write|Bash|Task"]
    assert set(hooks) == {"PreToolUse", "PostToolUse", "PostToolUseFailure"}
    assert kit.env["MENDBOT_HOME"] == str(kit.root) and kit.env["MENDBOT_LANGUAGE"] == "ko"
    assert kit.env["MENDBOT_HOOK_SETTINGS"] == str(kit.settings)
    assert kit.spool in kit.writable and kit.root in kit.read_only
    assert kit.root.stat().st_mode & 0o777 == 0o700


@settings(max_examples=60)
@given(
    st.binary(max_size=400)
    | st.lists(st.dictionaries(st.sampled_from([*GOOD]), st.text() | st.integers() | st.none())).map(
        lambda rows: b"\n".join(json.dumps(row).encode() for row in rows)
    )
)
def test_any_spool_is_read_without_an_error(tmp_path: Path, content: bytes) -> None:
    for error in spooled(tmp_path, content):
        assert error.tool and error.error and error.session_id
        assert "\n" not in error.error and max(map(len, (error.tool, error.error, error.session_id))) <= 200
        (error.raw + error.error + error.tool).encode()


def test_a_kit_is_a_value(tmp_path: Path) -> None:
    assert HookBundle(tmp_path).database == tmp_path / "mendbot.db"
