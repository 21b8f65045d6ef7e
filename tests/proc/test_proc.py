"""Processes: nothing outlives its command, nothing hangs, nothing grows without bound (T26, T32)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import uvloop

from bot import proc
from bot.proc import OutputLimit, ProcResult
from tests.machine import PATIENCE_S

PYTHON = (sys.executable, "-I", "-S", "-c")
ENV = {"PATH": "/usr/bin:/bin"}

# forks, leaves the session, forks again; the grandchild ignores what can be ignored and says who it is
ESCAPE = """
import os, signal, sys, time
style, ending, note = sys.argv[1:4]
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    if style == "silent":
        for fd in range(3):
            os.close(fd)
    with open(note + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(note + ".new", note)
    if style == "nameless":
        os.execve("/bin/sleep", ["sleep", "600"], {})
    time.sleep(600)
while not os.path.exists(note):
    time.sleep(0.005)
print("check ok", flush=True)
if ending == "hangs":
    time.sleep(600)
"""


async def run(*argv: str, cwd: Path = Path("/"), timeout_s: float = PATIENCE_S, **options: object) -> ProcResult:
    return await proc.run(argv, cwd=cwd, env=ENV, timeout_s=timeout_s, **options)  # type: ignore[arg-type]


async def run_past_its_first_word(*argv: str, **options: object) -> ProcResult:
    """Of a command that says something and then hangs: stopped at a limit that left it the time to say it."""
    for limit_s in (0.5, 2.0, 8.0, 32.0):
        result = await run(*argv, timeout_s=limit_s, **options)
        if result.output:
            break
    return result


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def test_it_tells_output_and_exit_code() -> None:
    result = await run("sh", "-c", "echo out; echo err >&2; exit 3")
    assert (result.exit_code, result.output, result.errors) == (3, b"out\nerr\n", b"")
    assert not result.timed_out and not result.overflowed and result.spawn_error is None


async def test_errors_are_apart_where_asked() -> None:
    result = await run("sh", "-c", "echo out; echo err >&2", merge_stderr=False)
    assert (result.output, result.errors) == (b"out\n", b"err\n")


async def test_a_signal_shows_as_a_negative_exit_code() -> None:
    assert (await run("sh", "-c", "kill -TERM $$")).exit_code == -15


async def test_nothing_of_our_environment_is_inherited(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PRIVATE_KEY", "canary")
    lines = (await run("env", cwd=tmp_path)).output.decode().splitlines()
    assert sorted(line.partition("=")[0] for line in lines) == [proc.COOKIE, "PATH"]


async def test_it_runs_in_the_directory_given(tmp_path: Path) -> None:
    assert (await run("pwd", "-P", cwd=tmp_path)).output.decode().strip() == str(tmp_path.resolve())


@pytest.mark.parametrize(
    ("argv", "cwd", "said"),
    [
        (("no-such-program",), "/", "No such file or directory: no-such-program"),
        (("/etc/passwd",), "/", "Permission denied: /etc/passwd"),
        (("true",), "/no/such/place", "No such file or directory: /no/such/place"),
        (("true",), "/etc/passwd", "Not a directory: /etc/passwd"),
        ((), "/", "the command is empty"),
        (("tr\0ue",), "/", "embedded null byte"),
        (("true", "x" * 3_000_000), "/", "Argument list too long: true"),
    ],
)
async def test_what_cannot_start_is_a_value(argv: tuple[str, ...], cwd: str, said: str) -> None:
    result = await run(*argv, cwd=Path(cwd))
    assert result.exit_code is None
    assert result.spawn_error == said


async def test_a_file_that_is_no_program_is_a_value(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF nonsense")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    assert ((await run(str(program))).spawn_error or "").startswith("Exec format error")


async def test_a_command_that_never_ends_is_stopped_at_its_limit() -> None:
    result = await run("sh", "-c", "trap '' TERM INT HUP; while :; do sleep 1; done", timeout_s=0.3)
    assert result.timed_out and result.exit_code == -9
    assert result.duration_ms >= 300


async def test_input_arrives_and_ends() -> None:
    text = os.urandom(3_000_000)
    result = await run("cat", stdin=text, limit=OutputLimit(head=4_000_000))
    assert result.output == text
    assert (await run("cat", stdin=b"")).exit_code == 0


async def test_a_command_without_input_reads_its_end_at_once() -> None:
    assert (await run("cat")).exit_code == 0


@pytest.mark.parametrize("script", ["exit 0", "exec <&-; sleep 0.1", "sleep 0.2"])
async def test_ten_megabytes_for_one_that_does_not_read_them(script: str) -> None:
    result = await run("sh", "-c", script, stdin=b"x" * 10_000_000)
    assert (result.exit_code, result.timed_out) == (0, False)


async def test_ten_megabytes_without_a_newline_keep_head_and_tail() -> None:
    script = "import sys; sys.stdout.write('A' + 'x' * 10_000_000 + 'Z')"
    result = await run(*PYTHON, script, limit=OutputLimit(head=1000, tail=500))
    assert result.dropped_bytes == 10_000_002 - 1500
    assert result.output == b"A" + b"x" * 999 + "\n… [9998502 bytes dropped] …\n".encode() + b"x" * 499 + b"Z"


@pytest.mark.parametrize("script", ["yes | head -c 950000000", "head -c 950000000 /dev/zero; exit 4"])
async def test_a_gigabyte_of_output_costs_little_memory(script: str) -> None:
    before, most = memory(), 0
    running = asyncio.ensure_future(proc.run(("sh", "-c", script), cwd=Path("/"), env=ENV, timeout_s=PATIENCE_S))
    while not running.done():
        await asyncio.wait({running}, timeout=0.01)
        most = max(most, memory() - before)
    result, growth = running.result(), most
    assert not result.overflowed and result.exit_code in (0, 4)
    assert result.dropped_bytes == 950_000_000 - (2 << 20)
    assert growth < 64 << 20


async def test_past_the_total_it_is_killed() -> None:
    result = await run("yes", limit=OutputLimit(head=100, tail=100, total=5_000_000))
    assert result.overflowed and not result.timed_out
    assert result.exit_code == -9
    assert len(result.output) < 300


@pytest.mark.parametrize("style", ["loud", "silent"])
@pytest.mark.parametrize("ending", ["exits", "hangs"])
async def test_who_left_group_and_session_dies_too(style: str, ending: str, tmp_path: Path) -> None:
    async def escape(number: int) -> tuple[ProcResult, int]:
        limit_s = PATIENCE_S if ending == "exits" else 0.6
        while True:
            note = tmp_path / f"{number}-{limit_s}"
            argv = (*PYTHON, ESCAPE, style, ending, str(note))
            result = await proc.run(argv, cwd=tmp_path, env=ENV, timeout_s=limit_s)
            if result.output or limit_s > PATIENCE_S / 2:
                return result, int(note.read_text())
            limit_s *= 3  # it was stopped before it had escaped

    async def all_of_them() -> list[tuple[ProcResult, int]]:
        found = []
        for start in range(0, 20, 4):
            found += await asyncio.gather(*(escape(start + number) for number in range(4)))
        return found

    for result, daemon in await all_of_them():
        assert result.output == b"check ok\n"
        assert result.timed_out == (ending == "hangs")
        assert result.exit_code == (0 if ending == "exits" else -9)
        assert not alive(daemon)


async def test_who_left_is_found_though_younger_commands_have_looked_and_ended_since(tmp_path: Path) -> None:
    note = tmp_path / "note"

    async def looked_past() -> int:
        argv = (*PYTHON, ESCAPE, "silent", "hangs", str(note))
        task = asyncio.ensure_future(proc.run(argv, cwd=tmp_path, env=ENV, timeout_s=PATIENCE_S))
        while not note.exists():
            await asyncio.wait({task}, timeout=0.01)
        for _ in range(3):  # to each of these the daemon is somebody older, of whom it need not read again
            assert (await proc.run(("true",), cwd=tmp_path, env=ENV, timeout_s=PATIENCE_S)).exit_code == 0
        daemon = int(note.read_text())
        assert alive(daemon)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return daemon

    assert not alive(await looked_past())


async def test_who_shed_even_its_environment_is_known_by_the_pipe_it_holds(tmp_path: Path) -> None:
    note = tmp_path / "note"
    result = await run(*PYTHON, ESCAPE, "nameless", "exits", str(note), cwd=tmp_path)
    assert (result.exit_code, result.output) == (0, b"check ok\n")
    assert not alive(int(note.read_text()))


async def test_a_process_whose_first_thread_ended_is_not_taken_for_dead() -> None:
    leave = {"x86_64": 60, "aarch64": 93}[platform.machine()]
    script = (
        "import ctypes, threading, time\n"
        "threading.Thread(target=time.sleep, args=(600,)).start()\n"
        f"print('gone', flush=True); ctypes.CDLL(None).syscall({leave}, 0)\n"
    )
    result = await run_past_its_first_word(*PYTHON, script)
    assert result.timed_out and result.exit_code == -9
    assert result.output == b"gone\n"


def children() -> set[int]:
    """The children of this process, zombies included; other tests may have servers among them."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                found.add(int(path.parent.name))
    return found


async def test_cancelling_kills_and_goes_on_cancelling(tmp_path: Path) -> None:
    note, before = tmp_path / "note", children()

    argv = (*PYTHON, ESCAPE, "loud", "hangs", str(note))
    task = asyncio.ensure_future(proc.run(argv, cwd=tmp_path, env=ENV, timeout_s=PATIENCE_S))
    while not note.exists():
        await asyncio.wait({task}, timeout=0.01)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not alive(int(note.read_text()))
    assert children() <= before  # not even a zombie is left to collect


def test_a_loop_that_closes_leaves_nothing_behind(tmp_path: Path) -> None:
    note = tmp_path / "note"

    async def forgotten() -> asyncio.Task[ProcResult]:
        argv = (*PYTHON, ESCAPE, "silent", "hangs", str(note))
        task = asyncio.create_task(proc.run(argv, cwd=tmp_path, env=ENV, timeout_s=PATIENCE_S))
        while not note.exists():
            await asyncio.wait({task}, timeout=0.01)
        return task

    assert asyncio.run(forgotten()).cancelled()
    assert not alive(int(note.read_text()))


async def test_other_processes_keep_their_exit_status() -> None:
    with subprocess.Popen(("sh", "-c", "exit 7"), start_new_session=True) as bystander:
        with subprocess.Popen(("sleep", "600")) as living:
            for _ in range(5):
                await run("sh", "-c", "(sleep 600 &)")
            assert living.poll() is None
            living.kill()
        assert bystander.wait() == 7


@pytest.mark.parametrize("factory", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_any_loop_in_any_thread_will_do(factory: type[asyncio.AbstractEventLoop]) -> None:
    results: list[ProcResult] = []
    open_files: list[int] = []

    async def several() -> None:
        for argv in (("cat",), ("sh", "-c", "sleep 600 & echo hi"), ("sleep", "600"), ("no-such-program",)):
            limit_s = 0.5 if argv[0] == "sleep" else PATIENCE_S
            results.append(await proc.run(argv, cwd=Path("/"), env=ENV, timeout_s=limit_s, stdin=b"fed"))
            open_files.append(len(os.listdir("/proc/self/fd")))

    def body() -> None:
        loop = factory()
        try:
            loop.run_until_complete(several())
        finally:
            loop.close()

    thread = threading.Thread(target=body)
    thread.start()
    thread.join(PATIENCE_S)
    assert [result.exit_code for result in results] == [0, 0, -9, None]
    assert [result.output for result in results] == [b"fed", b"hi\n", b"", b""]
    assert len(set(open_files)) == 1
