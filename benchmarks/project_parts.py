"""The four agents of `benchmarks.projects`, what each of them says, and what came of it on the stand-in."""

from __future__ import annotations

import asyncio
import difflib
import json
import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.project_case import Case, git
from bot.reports.locale.reasons import english
from bot.rules.runs.fold import run_state
from bot.rules.runs.state import RunState
from bot.store.runs.runs import RunRow, Runs
from demo.standin.views import PullView
from demo.standin.world import World

PARTS = ("nothing", "deleted", "damaged", "right")
ACTOR, LABEL = "ada", "auto-fix"
_PATIENCE_S = 1200.0
_LOOK_S = 0.2


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one agent. `ended` is the run's end in a word or two; `fixed`: the pull request claims the fix and
    differs from the base by the right change alone; `false_claim`: it claims a fix and does not."""

    part: str
    ended: str
    fixed: bool
    false_claim: bool
    attempts: int
    setup_s: float
    seconds: float
    because: str = ""

    @property
    def shown(self) -> str:
        if self.false_claim:
            return "**false claim**"
        return f"fixed in {self.attempts}" if self.fixed else self.ended

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def write_parts(case: Case, where: Path) -> None:
    """Lay out what the agent does for each part and attempt (`benchmarks.project_agent`)."""
    for part in PARTS:
        (where / part).mkdir(parents=True)
    _files(where / "right" / "1", {path: _broken(content) for path, content in case.wrong.items()})
    _files(where / "right" / "2", case.right)
    (where / "deleted" / "1").mkdir()
    (where / "deleted" / "1" / "deleted.json").write_text(json.dumps(case.tests))
    if not case.tests:  # a planted bug is shown by tests that nobody named, so all that look like one go
        names = git(case.clone, "ls-tree", "-r", "--name-only", case.base).decode().split("\n")
        tests = [name for name in names if re.search(r"(?:^|/)tests?(?:/|[._][^/]*$|_[^/]*$)|_test\.", name)]
        (where / "deleted" / "1" / "deleted.json").write_text(json.dumps(tests))
    (where / "damaged" / "1").mkdir()
    changes = [
        {"path": path, "patch": _damaged(path, case.wrong[path], content)} for path, content in case.right.items()
    ]
    (where / "damaged" / "1" / "answer.json").write_text(json.dumps({"changes": changes}))


def _files(where: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        target = where / "files" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


def _broken(content: bytes) -> bytes:
    """The file with its middle line made one that no language accepts."""
    lines = content.splitlines(keepends=True)
    return b"".join([*lines[: len(lines) // 2], b")( this is wrong\n", *lines[len(lines) // 2 :]])


def _damaged(path: str, wrong: bytes, right: bytes) -> str:
    """The right diff with wrong counts, wrong line numbers and context whose white space at the end is gone."""
    lines = difflib.unified_diff(
        wrong.decode(errors="replace").splitlines(keepends=True),
        right.decode(errors="replace").splitlines(keepends=True),
        f"a/{path}",
        f"b/{path}",
    )
    text = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    text = re.sub(
        r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@",
        lambda found: f"@@ -{int(found[1]) + 4},9 +{int(found[2]) + 4},3 @@",
        text,
        flags=re.MULTILINE,
    )
    return re.sub(r"^ [ \t]*$", "", text, flags=re.MULTILINE)


def play(world: World, repo: str, case: Case, base: str, part: str, runs: Runs) -> Outcome:
    """File the issue for that part, label it and wait until its run is over."""
    shown_by = f"\n\nThe tests in {', '.join(f'`{path}`' for path in case.tests[:5])} show it." if case.tests else ""
    number = world.create_issue(repo, f"{case.subject} (part: {part})", f"{case.subject}{shown_by}", author=ACTOR)
    began = time.monotonic()
    world.add_label(repo, number, LABEL, ACTOR)
    row, state = _ended(runs, number)
    seconds = time.monotonic() - began
    pull = next((one for one in world.pulls(repo) if state.pull and one.number == state.pull.number), None)
    is_right = pull is not None and _is_right(world.git_dir(repo), case, base, pull.head_sha)
    claims = pull is not None and not pull.draft
    return Outcome(
        part=part,
        ended=_word(state, pull),
        fixed=claims and is_right,
        false_claim=claims and not is_right,
        attempts=state.counted,
        setup_s=_setup_s(asyncio.run(runs.events(row.id))),
        seconds=seconds,
        because=english(state.stop.details)[:300] if state.stop else "",
    )


def _word(state: RunState, pull: PullView | None) -> str:
    if state.baseline is not None and state.baseline.passed:
        return "green base"
    if pull is not None:
        return "proposed" if pull.draft else "claimed"
    return state.stop.reason if state.stop else str(state.finished)


def _is_right(git_dir: Path, case: Case, base: str, head: str) -> bool:
    """Whether a commit differs from the base in the right files alone, each as it shall be."""
    changed = git(git_dir, "diff", "--name-only", base, head).decode().split()
    same = all(git(git_dir, "show", f"{head}:{path}") == content for path, content in case.right.items())
    return same and set(changed) <= set(case.right)


def _ended(runs: Runs, number: int) -> tuple[RunRow, RunState]:
    """The run of an issue when it is over; RuntimeError where that takes too long."""
    limit = time.monotonic() + _PATIENCE_S
    while time.monotonic() < limit:
        for row in asyncio.run(runs.all()):
            if number in {issue.number for issue in row.spec.issues} and row.status.final:
                return row, run_state(asyncio.run(runs.events(row.id)))
        time.sleep(_LOOK_S)
    raise RuntimeError(f"the run of issue {number} is not over after {_PATIENCE_S:.0f} s")


def _setup_s(events: tuple[object, ...]) -> float:
    times = {getattr(event, "type", ""): getattr(event, "ts", None) for event in events}
    began, ended = times.get("setup_started"), times.get("setup_completed") or times.get("setup_failed")
    return (ended - began).total_seconds() if began and ended else 0.0
