"""What is logged is masked, wherever in a line it stands; each form is one line an event."""

from __future__ import annotations

import ast
import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.errors import ConfigError
from bot.logs import captured_logs, get_logger, log_fields, set_up_logs
from tests.machine import PATIENCE_S

TOKEN = "ghs_" + "a1B2" * 10
SCRIPT = """
import sys
from bot.logs import get_logger, set_up_logs
set_up_logs("info", sys.argv[1])
log, token = get_logger(), sys.argv[2]
log.debug("unseen")
log.info("top", value=token)
log.info("inside", args={"list": [token, ("x", token)]})
try:
    raise RuntimeError(f"said {token}")
except RuntimeError:
    log.exception("raised")
"""


@pytest.mark.parametrize("form", ["console", "json"])
def test_tokens_are_masked_at_any_depth_and_in_tracebacks(form: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, form, TOKEN], capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert done.returncode == 0
    assert done.stdout == ""
    assert "unseen" not in done.stderr
    assert "RuntimeError: said" in done.stderr
    assert TOKEN not in done.stderr
    if form == "json":
        events = [json.loads(line) for line in done.stderr.splitlines()]
        assert [event["event"] for event in events] == ["top", "inside", "raised"]


def test_a_line_for_people_is_one_line_whatever_its_fields_hold(capsys: pytest.CaptureFixture[str]) -> None:
    with captured_logs():  # puts back what was set up before
        set_up_logs("warning", "console")
        log = get_logger().bind(job="fix")
        log.info("unseen")
        log.warning("seen", path="/a b", count=2, because="one\n2026 [error    ] forged", event="own")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.split(" ", 1)[1] == (
        "[warning  ] seen                           because='one\\n2026 [error    ] forged' count=2 job=fix path=/a b"
    )


async def test_what_is_logged_within_has_the_fields_also_in_tasks_that_start_there() -> None:
    log = get_logger()

    async def inside() -> None:
        log.info("in_a_task")

    with captured_logs() as lines:
        with log_fields(run="run-1"):
            log.info("directly", run="run-2")
            with log_fields(delivery="d"):
                task = asyncio.create_task(inside())
        await task
        log.info("outside")
    seen = {line["event"]: (line.get("run"), line.get("delivery")) for line in lines}
    assert seen == {"directly": ("run-2", None), "in_a_task": ("run-1", "d"), "outside": (None, None)}


def test_unknown_levels_and_forms_are_refused() -> None:
    for level, form, name in (("loud", "json", "LOG_LEVEL: `loud`"), ("info", "xml", "LOG_FORMAT: `xml`")):
        with pytest.raises(ConfigError, match=name):
            set_up_logs(level, form)


def log_calls(tree: ast.AST) -> Iterator[ast.Call]:
    names = ("debug", "info", "warning", "error", "exception", "critical")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in names:
            yield node


def test_no_field_of_a_log_line_takes_the_name_of_one_that_every_line_has() -> None:
    """`log.info("name", event=...)` would lose the field."""
    bot = Path(__file__).parents[1] / "bot"
    wrong = [
        f"{path.relative_to(bot)}:{call.lineno}"
        for path in sorted(bot.rglob("*.py"))
        for call in log_calls(ast.parse(path.read_text()))
        if any(keyword.arg in ("event", "level", "timestamp", "exception") for keyword in call.keywords)
    ]
    assert wrong == []
