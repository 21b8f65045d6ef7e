"""*Pre-tool hook*: the whole process as an agent starts it, on a large history, beside Python doing nothing.
All are started in turn within a round, so that a slow minute falls on each of them."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.history_rows import HOT, MISSING, RARE, SESSION, filled
from benchmarks.result import Result, Row, percentile, ratio_row
from benchmarks.servers import REFERENCES
from bot.agent import hook
from bot.agent.hook_install import command

BARE = "bare python -I -S -c pass"
LIBRARY = "python with json and sqlite3 imported"
NODE = "the hook in Node with node:sqlite"
_QUIET = {"NODE_NO_WARNINGS": "1"}


@dataclass(frozen=True, slots=True)
class Size:
    """Each round starts every process once."""

    rows: int = 1_000_000
    rounds: int = 40
    node: bool = True


@dataclass(frozen=True, slots=True)
class _Started:
    argv: tuple[str, ...]
    stdin: bytes = b""
    answers: bool = False


def measure(size: Size) -> Result:
    """Milliseconds from start to exit of ours for each kind of request, and of the references."""
    times: dict[str, list[float]] = {}
    with filled(size.rows) as home:
        table = _table(home, node=size.node)
        env = {"PATH": os.environ["PATH"], "MENDBOT_HOME": str(home), **_QUIET}
        for started in table.values():
            _run(started, env)  # compiled code and pages are there from now on
        for _ in range(size.rounds):
            for name, started in table.items():
                times.setdefault(name, []).append(_run(started, env))
    return _result(size, times)


def _edit(name: str) -> bytes:
    return json.dumps({"session_id": "s", "tool_name": "Edit", "tool_input": {"file_path": f"/p/{name}"}}).encode()


def _table(home: Path, *, node: bool) -> Mapping[str, _Started]:
    python = (sys.executable, "-I", "-S")
    ours = tuple(shlex.split(command()))
    table = {
        BARE: _Started((*python, "-c", "pass")),
        "hot file": _Started(ours, _edit(HOT), True),
        "rare file": _Started(ours, _edit(RARE), True),
        "missing file": _Started(ours, _edit(MISSING)),
        "Bash": _Started(ours, json.dumps({"session_id": SESSION, "tool_name": "Bash"}).encode(), True),
        "hot file, as a script": _Started((*python, hook.__file__), _edit(HOT), True),
        "hot file, python -m bot hook pre-tool": _Started(
            (sys.executable, "-m", "bot", "hook", "pre-tool"), _edit(HOT), True
        ),
        LIBRARY: _Started((*python, "-c", "import json, sqlite3")),
    }
    if node:
        script = REFERENCES / "pre_tool_hook.mjs"
        argv = (str(Path(sys.executable).parent / "node"), str(script), str(home / "mendbot.db"), hook.BY_FILE[0][0])
        table[NODE] = _Started(argv, _edit(HOT), True)
    return table


def _run(started: _Started, env: Mapping[str, str]) -> float:
    began = time.perf_counter()
    result = subprocess.run(started.argv, input=started.stdin, capture_output=True, env=env, check=False)
    took = (time.perf_counter() - began) * 1000
    if result.returncode != 0 or result.stderr or bool(result.stdout) != started.answers:
        raise RuntimeError(f"{started.argv[:4]} exited {result.returncode}: {result.stdout!r} {result.stderr!r}")
    return took


def _result(size: Size, times: Mapping[str, list[float]]) -> Result:
    rows = [
        ratio_row(f"{name}: {BARE}", times[name], times[BARE], "at most", 3.0)
        for name in ("hot file", "rare file", "missing file", "Bash")
    ]
    if NODE in times:
        rows.append(ratio_row(f"hot file: {NODE}", times["hot file"], times[NODE], "at most", 0.3))
    rows += [Row(name, median(values), "ms") for name, values in times.items()]
    rows.append(Row("hot file, p99", percentile(times["hot file"], 0.99), "ms"))
    return Result("pre-tool hook", size.rounds, tuple(rows), (f"{size.rows:,} resolved errors in the bot's database.",))
