"""The durable engine as a process that is killed: what was recorded is not done again, what was under way is."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.forked_bot import ForkedBot
from tests.machine import PATIENCE_S


class Process:
    """`engine_job` on a home; `kill` is SIGKILL."""

    def __init__(self, home: Path, *jobs: str) -> None:
        self.home = home
        with (home / "err.txt").open("ab") as err, Path(os.devnull).open("rb") as nothing:
            files = (nothing.fileno(), err.fileno(), err.fileno())
            self._process = ForkedBot([str(home), *jobs], env=os.environ, files=files, module="tests.engine_job")

    def calls(self) -> list[str]:
        """What this process and those before it did, without who did it."""
        path = self.home / "calls.txt"
        return [line.partition(" ")[2] for line in path.read_text().splitlines()] if path.exists() else []

    def until(self, condition: Callable[[list[str]], bool], timeout_s: float = PATIENCE_S) -> list[str]:
        deadline = time.monotonic() + timeout_s
        while not condition(calls := self.calls()):
            if time.monotonic() > deadline or self._process.poll() is not None:
                raise AssertionError(f"{calls}\n{(self.home / 'err.txt').read_text()[-3000:]}")
            time.sleep(0.01)
        return calls

    def until_said(self, line: str, timeout_s: float = PATIENCE_S) -> list[str]:
        return self.until(lambda calls: line in calls, timeout_s)

    def stop(self, grace_s: float) -> str:
        (self.home / "stop.half").write_text(str(grace_s))
        (self.home / "stop.half").rename(self.home / "stop")  # it is read as soon as it is there
        self._process.wait(PATIENCE_S)
        assert self.calls()[-1].startswith("drained"), (self.home / "err.txt").read_text()[-3000:]
        return self.calls()[-1]

    def kill(self) -> None:
        if self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait(PATIENCE_S)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    started: list[Process] = []

    def go(*jobs: str) -> Process:
        started.append(Process(tmp_path, *jobs))
        return started[-1]

    yield go
    for process in started:
        process.kill()


def test_a_job_killed_in_its_second_call_goes_on_there_after_a_restart(start: Callable[..., Process]) -> None:
    first = start("a,octo/x,3,go")
    (first.home / "go1").touch()
    first.until_said("a began 2")
    first.kill()
    (first.home / "go").touch()
    calls = start().until_said("a ended 3")
    assert calls.count("a began 1") == calls.count("a ended 1") == 1
    assert calls.count("a began 2") == 2
    assert calls.count("a ended 2") == 1
    assert calls.count("a began 3") == 1


def test_a_job_that_is_wanted_again_runs_once(start: Callable[..., Process]) -> None:
    process = start(*["a,octo/x,1,0.2"] * 5)
    process.until_said("a ended 1")
    process.kill()
    again = start("a,octo/x,1,0.2", "b,octo/x,1,0")
    calls = again.until_said("b ended 1")
    assert calls.count("a began 1") == 1


def test_a_partition_has_its_limit_and_does_not_hold_up_another(start: Callable[..., Process]) -> None:
    process = start(*[f"x{n},octo/x,1,y_done" for n in range(5)], "y,octo/y,1,0.1")
    calls = process.until(lambda calls: sum(" ended " in call for call in calls) == 6)
    running, most = 0, 0
    for call in (call for call in calls if call.startswith("x")):
        running += 1 if " began " in call else -1
        most = max(most, running)
    assert most == 2
    assert calls.index("y ended 1") < calls.index("x4 began 1")


def test_draining_lets_a_call_end_and_starts_no_more(start: Callable[..., Process]) -> None:
    process = start("a,octo/x,9,draining")
    process.until_said("a began 1")
    assert process.stop(PATIENCE_S) == "drained True running"
    calls = process.calls()
    assert "a ended 1" in calls and "a began 2" not in calls
    (process.home / "stop").unlink()
    assert "a began 2" in start().until_said("a began 2")


def test_draining_gives_up_after_its_grace(start: Callable[..., Process]) -> None:
    process = start("a,octo/x,2,600", "b,octo/x,1,0")
    process.until_said("b ended 1")
    assert process.stop(0.3) == "drained False running ended"


def test_a_job_that_kills_its_process_again_and_again_is_given_up(start: Callable[..., Process]) -> None:
    for _ in range(3):  # the first time and two recoveries
        with pytest.raises(AssertionError):  # it died
            start("a,octo/x,1,-1").until_said("never")
    last = start("a,octo/x,1,-1", "b,octo/x,1,0")
    last.until_said("b ended 1")
    assert last.stop(PATIENCE_S) == "drained True ended ended"
    assert last.calls().count("a began 1") == 3


def test_jobs_that_ended_are_forgotten_and_those_under_way_are_not(start: Callable[..., Process]) -> None:
    process = start("a,octo/x,1,0", "b,octo/x,9,600")
    process.until_said("a ended 1")
    process.until_said("b began 1")
    (process.home / "forget").touch()
    assert process.stop(0.6) == "drained False ended running forgot 1 unknown running"


@pytest.mark.parametrize("kind", ["wait", "rest"])
def test_a_job_that_waits_leaves_its_place_to_others(start: Callable[..., Process], tmp_path: Path, kind: str) -> None:
    (tmp_path / "at_once").write_text("1")
    process = start(f"a,octo/x,1,{kind}_go", "b,octo/x,1,0", "c,octo/y,1,0")
    calls = process.until(lambda calls: {"b ended 1", "c ended 1"} <= set(calls))
    assert "a waits" in calls and "a ended 1" not in calls
    (process.home / "go").touch()
    (process.home / "wake").touch()
    process.until_said("a ended 1")
    assert process.stop(PATIENCE_S) == "drained True ended ended ended"


def test_a_job_that_waits_goes_on_after_a_crash_and_counts_its_faults(start: Callable[..., Process]) -> None:
    first = start("a,octo/x,1,wait_go")
    first.until_said("a began 1 after 2 faults")
    first.kill()
    (first.home / "go").touch()
    again = start("a,octo/x,1,wait_go")  # it is wanted again, and is the same job
    calls = again.until_said("a ended 1")
    assert [call for call in calls if " ended " in call] == ["a ended 1"]
    waits = calls.count("a waits")
    # the kill may come after the last wait was said and before it was stored
    assert calls[-2] in {f"a began 1 after {waits} faults", f"a began 1 after {waits - 1} faults"}
    assert again.stop(PATIENCE_S) == "drained True ended"


def test_what_is_known_of_a_job_that_waits_is_not_forgotten(start: Callable[..., Process]) -> None:
    process = start("a,octo/x,1,rest_go", "b,octo/x,1,0")
    process.until_said("a waits")
    process.until_said("b ended 1")
    (process.home / "forget").touch()
    # b's record alone is gone: by a's first it is known that a was asked for
    assert process.stop(PATIENCE_S) == "drained True waiting ended forgot 1 waiting unknown"


def test_on_postgres_too_a_job_that_waits_leaves_its_place_to_others(
    start: Callable[..., Process], tmp_path: Path, postgres_url: str
) -> None:
    (tmp_path / "at_once").write_text("1")
    (tmp_path / "database_url").write_text(postgres_url)
    process = start("a,octo/x,1,rest_go", "b,octo/x,1,0")
    process.until_said("b ended 1")
    (process.home / "go").touch()
    (process.home / "wake").touch()
    process.until_said("a ended 1")
    assert process.stop(PATIENCE_S) == "drained True ended ended"
