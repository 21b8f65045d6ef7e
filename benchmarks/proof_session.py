"""One change through the product: `mendbot fix --json` in a repository of its own, with an agent that makes it."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.project_case import git
from benchmarks.proof_case import Case, Change, is_test_side
from benchmarks.proof_suite import write
from benchmarks.servers import ROOT

Level = Literal["proven", "covered", "unproven", "refused"]
AGENT = Path(__file__).with_name("proof_agent.py")
_LEVELS: Mapping[str, Level] = {"proven": "proven", "covered": "covered", "shown": "proven"}
"""`shown` is what a revision without levels gives for a check that failed before and passes now."""
_TIMEOUT_S = 1200


@dataclass(frozen=True, slots=True)
class Outcome:
    """What Mendbot made of a change. `because` is its own evidence, `passed` whether all checks passed with it."""

    case: Case
    change: Change
    level: Level
    because: str
    passed: bool
    seconds: float

    @classmethod
    def from_json(cls, case: Case, change: Change, data: Mapping[str, Any]) -> Outcome:
        """An outcome that was saved."""
        return cls(case, change, data["level"], data["because"], data["passed"], data["seconds"])

    def as_json(self) -> dict[str, object]:
        case = {name: getattr(self.case, name) for name in ("name", "source", "language", "base", "half")}
        change = {"kind": self.change.kind, "right": self.change.right, "misleading": self.change.misleading}
        mine = {"level": self.level, "because": self.because, "passed": self.passed, "seconds": round(self.seconds, 2)}
        return {**case, **change, **mine}


def run(case: Case, change: Change, *, bot: Path, home: Path, tools: Path) -> Outcome:
    """Give the case's issue to Mendbot of the directory `bot`, and the change to its agent.

    Raises RuntimeError where Mendbot itself fails."""
    with tempfile.TemporaryDirectory(prefix="mendbot-bench-") as where:
        root = Path(where)
        tree, agent = root / "project", root / "agent"
        _repository(tree, case)
        _agent(agent, change)
        argv = [str(bot / ".venv" / "bin" / "mendbot"), "fix", "--repo", str(tree), "--task", case.issue]
        argv += ["--test-command", case.command, "--max-attempts", "1", "--json"]
        env = {
            **{name: value for name, value in os.environ.items() if not name.startswith("MENDBOT_")},
            "MENDBOT_HOME": str(home),
            "MENDBOT_AGENTS": "command",
            "MENDBOT_AGENT_COMMAND": json.dumps(["python3", str(AGENT), str(agent)]),
            "MENDBOT_AGENT_BINDS": f"{AGENT}:{agent}",
            "MENDBOT_TOOLCHAINS": str(tools),
        }
        began = time.perf_counter()
        done = subprocess.run(argv, env=env, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
        seconds = time.perf_counter() - began
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{case.name}, {change.kind}: exit {done.returncode}: {done.stderr[-2000:]}")
        return _outcome(case, change, json.loads(done.stdout), seconds)


def _repository(tree: Path, case: Case) -> None:
    write(tree, case.files)
    git(tree.parent, "init", "-q", "-b", "main", str(tree))
    git(tree, "add", "-A", "-f")
    git(tree, "commit", "-q", "-m", "Begin")


def _agent(folder: Path, change: Change) -> None:
    write(folder / "files", {path: text for path, text in change.files.items() if text is not None})
    (folder / "files").mkdir(parents=True, exist_ok=True)
    lists = {
        "deleted": [path for path, text in change.files.items() if text is None],
        "tests": [path for path in change.files if is_test_side(path)],
    }
    for name, paths in lists.items():
        (folder / f"{name}.json").write_text(json.dumps(paths))


def _outcome(case: Case, change: Change, session: Mapping[str, Any], seconds: float) -> Outcome:
    passed = session["status"] == "success"
    level = session.get("proof") or ("shown" if session.get("shown") else "")
    because = json.dumps(session.get("evidence") if passed else session.get("stopReason"))
    reached: Level = _LEVELS.get(level, "unproven") if passed else "refused"
    return Outcome(case, change, reached, because, passed, seconds)


def own_bot() -> Path:
    """The checkout that this benchmark belongs to."""
    return ROOT
