"""Each benchmark runs end to end with tiny numbers; what they measure is asserted nowhere, as machines differ."""

from __future__ import annotations

import json
import math
import os
import secrets
import sqlite3
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as entry
from benchmarks import ack, idle, loop, payload
from benchmarks.result import Result, Row, as_table, percentile
from bot.web.signature import signed


def test_acknowledgement_counts_what_it_stored() -> None:
    result = ack.measure(ack.Size(rounds=1, seconds=0.3, warm_s=0.1, paced_s=0.3, node=False))
    assert next(row.what for row in result.rows if row.goal is not None).endswith(ack.FLOOR)
    assert all(math.isfinite(row.value) and row.value > 0 for row in result.rows)


def test_an_acknowledgement_without_a_row_is_found_out(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "mendbot.db")
    database.execute("CREATE TABLE deliveries (id TEXT, payload BLOB)")
    database.execute("INSERT INTO deliveries VALUES ('flood-0-1', zeroblob(?))", (payload.SIZE,))
    database.commit()
    database.close()
    ack._count(tmp_path / "mendbot.db", {"flood-0": 1})
    with pytest.raises(RuntimeError, match="2 deliveries were acknowledged, 1 are stored"):
        ack._count(tmp_path / "mendbot.db", {"flood-0": 2})


def test_the_loop_is_measured_on_a_real_run() -> None:
    result = loop.measure(loop.Size(rounds=1))
    assert all(math.isfinite(row.value) for row in result.rows)


def test_idle_sees_every_process() -> None:
    result = idle.measure(idle.Size(rounds=1, seconds=0.5, settle_s=0.0))
    assert all(row.value > 10 for row in result.rows if row.unit == "MB")


def test_bodies_are_all_of_the_size_and_rightly_signed() -> None:
    secret = secrets.token_hex(32)
    bodies = {payload.body(number) for number in range(20)}
    assert len(bodies) == 20
    for body in bodies:
        head = payload.head(3000, secret, body, "id-1", 1)
        header = next(line for line in head.split(b"\r\n") if line.startswith(b"X-Hub-Signature-256: "))
        assert len(body) == payload.SIZE
        assert json.loads(body)["action"] == "opened"
        assert signed(body, header.partition(b": ")[2], (secret.encode(),))


def test_a_missed_goal_is_said_and_fails_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missed = Result("tiny", 1, (Row("slow", 2.0, "s", "at most", 1.0), Row("shown", 3.0)))
    monkeypatch.setattr(entry, "BENCHMARKS", {"tiny": lambda: missed})
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--json"])
    assert entry.main() == 1
    (said,) = json.loads(capsys.readouterr().out)
    assert [row["met"] for row in said["rows"]] == [False, None]
    assert "**missed**" in as_table(missed)


def test_an_unknown_name_is_refused_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", "nonesuch"])
    with pytest.raises(SystemExit) as ended:
        entry.main()
    assert ended.value.code == 2


def test_a_percentile_is_a_value_that_was_measured() -> None:
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile(range(1, 101), 0.99) == 99
    assert percentile([7], 0.99) == 7


def test_nothing_is_left_running() -> None:
    mine = f"PPid:\t{os.getpid()}\n"
    assert not [entry_of for entry_of in Path("/proc").glob("[0-9]*") if _marked(entry_of, mine)]


def _marked(entry_of: Path, parent: str) -> bool:
    try:
        marked = b"MENDBOT_BENCH_MARK=" in (entry_of / "environ").read_bytes()
        return marked and parent in (entry_of / "status").read_text(encoding="ascii")
    except OSError:
        return False
