"""`python -m demo` as a process of its own, watched from outside: what it prints, what it starts, what it leaves."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.machine import PATIENCE_S

ROOT = Path(__file__).parent.parent.parent


class Demo:
    """Runs in its context, which kills it and all it started; its temporary files lie in `temporary`."""

    def __init__(
        self,
        temporary: Path,
        *options: str,
        argv: Sequence[str] = (sys.executable, "-m", "demo"),
        cwd: Path = ROOT,
        env: Mapping[str, str] | None = None,
        **popen: Any,
    ) -> None:
        self.temporary = temporary
        self._said = temporary.with_name(f"{temporary.name}.out")
        self._argv, self._cwd, self._popen = [*argv, *options], cwd, popen
        self._env = {**(os.environ if env is None else env), "TMPDIR": str(temporary)}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Demo:
        self.temporary.mkdir(exist_ok=True)
        os.chown(self.temporary, self._popen.get("user", -1), self._popen.get("group", -1))
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(
                self._argv,
                cwd=self._cwd,
                env=self._env,
                stdout=said,
                stderr=said,
                start_new_session=True,
                **self._popen,
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait(PATIENCE_S)
        for pid in self.processes():
            os.kill(pid, signal.SIGKILL)

    @property
    def output(self) -> str:
        return self._said.read_text(encoding="utf-8")

    def send(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def exit_code(self, within_s: float) -> int:
        assert self._process is not None
        try:
            return self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {within_s} s:\n{self.output}") from None

    def wait_until_it_says(self, text: str, within_s: float) -> str:
        """The output so far, which has `text` in it."""
        assert self._process is not None
        deadline = time.monotonic() + within_s
        while text not in self.output:
            assert self._process.poll() is None, f"ended with {self._process.returncode}:\n{self.output}"
            assert time.monotonic() < deadline, f"did not say {text!r} within {within_s} s:\n{self.output}"
            time.sleep(0.1)
        return self.output

    def processes(self, words: str = "") -> list[int]:
        """The processes that belong to it and have `words` in their command line; not itself."""
        assert self._process is not None
        mark, found = str(self.temporary).encode(), []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) not in (self._process.pid, os.getpid()):
                try:
                    line = (entry / "cmdline").read_bytes()
                    is_ours = mark in line or mark in (entry / "environ").read_bytes()
                except OSError:  # gone meanwhile, or another user's
                    continue
                if is_ours and words.encode() in line.replace(b"\0", b" "):
                    found.append(int(entry.name))
        return found

    def file_on_github(self, repo: str, branch: str, path: str) -> bytes:
        """A file of a branch, out of the repository that the stand-in keeps."""
        (kept,) = self.temporary.glob(f"mendbot-demo-*/github/repositories/{repo}.git")
        argv = ["git", "--git-dir", str(kept), "show", f"{branch}:{path}"]
        return subprocess.run(argv, check=True, capture_output=True, timeout=PATIENCE_S).stdout

    def assert_nothing_is_left(self) -> None:
        lines = {pid: _command_line(pid) for pid in self.processes()}
        assert not any(lines.values()), lines
        assert list(self.temporary.iterdir()) == []


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def addresses(output: str) -> list[str]:
    """The pull requests' addresses, each on a line of its own (contract, `make demo`)."""
    return re.findall(r"^ *pull request (http://127\.0\.0\.1:\d+/\S+/pull/\d+) ", output, re.MULTILINE)
