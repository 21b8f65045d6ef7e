"""Small real projects for sessions to work in, agents that follow a script, and the situations of the seed's section 10
(`Situation`), each with what every face must tell of it."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import stat
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.model import SessionRequest
from bot.rules.runs.session_request import parse_request

Doc = dict[str, Any]
"""A session as JSON, with its `events` and its `artifacts`."""

TASK = "`add` in `calc.py` subtracts; it should add its numbers. `test_calc.py` shows it."
PYTHON = {
    "pyproject.toml": '[tool.ruff]\n[tool.mypy]\nfiles = ["calc.py"]\n[tool.pytest.ini_options]\n',
    "calc.py": "def add(a: int, b: int) -> int:\n    return a - b\n",
    "test_calc.py": "from calc import add\n\n\ndef test_add() -> None:\n    assert add(2, 3) == 5\n",
    ".gitignore": "__pycache__/\n.*_cache/\n",
}
UNTYPED = {**PYTHON, "pyproject.toml": PYTHON["pyproject.toml"].replace('[tool.mypy]\nfiles = ["calc.py"]\n', "")}
MENDED = "def add(a: int, b: int) -> int:\n    return a + b\n"
PLAIN = {"answer.txt": "41\n", "README": "One file with one number.\n", "first": "", "later": ""}
IS_42 = 'test "$(cat answer.txt)" = 42 || { echo "answer.txt:1: error: not 42"; exit 1; }'
LONG = 100_000 + os.getpid()
"""Seconds; what sleeps so long is only ended by being killed. No other test process has this number."""


def write(tree: Path, files: Mapping[str, str], *, commit: bool = False) -> Path:
    """The tree with these files; with `commit`, a git repository whose only commit has them."""
    for name, text in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if commit:
        git(tree, "init", "-q", "-b", "main")
        git(tree, "add", "-A")
        git(tree, "commit", "-q", "-m", "first")
    return tree


def git(tree: Path, *args: str) -> str:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *who, *args], cwd=tree, check=True, capture_output=True, text=True).stdout


def photograph(tree: Path) -> dict[str, tuple[int, bytes]]:
    """Every path below the tree, `.git` and ignored files too, with its mode and what it holds."""
    found = {}
    for path in sorted(tree.rglob("*")):
        kept = os.readlink(path).encode() if path.is_symlink() else b"" if path.is_dir() else path.read_bytes()
        found[str(path.relative_to(tree))] = (stat.S_IMODE(path.lstat().st_mode), hashlib.sha256(kept).digest())
    return found


def agent(*answers: object) -> str:
    """The spec of an agent that prints the answers in turn, the last one again and again. `PROMPT` in them becomes what
    it was told, so that tests can read it in the tree."""
    script = (
        "import json,re,sys\n"
        "p=sys.stdin.read()\n"
        f"a=json.loads({json.dumps(answers)!r})\n"
        "n=int(re.search(r'attempt (\\d+) of',p)[1])\n"
        "print(json.dumps(a[min(n,len(a))-1]).replace('PROMPT',json.dumps(p)[1:-1]))\n"
    )
    return "command:" + shlex.join(["python3", "-c", script])


def shell(script: str) -> str:
    """The spec of an agent that edits the tree by a shell's commands."""
    return "command:" + shlex.join(["sh", "-c", script])


def put(path: str, content: str) -> Doc:
    return {"changes": [{"path": path, "content": content}]}


def diff(path: str, old: str, new: str, fallback: str | None = None) -> Doc:
    """A change by a unified diff of one line after a first one that stays."""
    patch = f"--- a/{path}\n+++ b/{path}\n@@ -1,2 +1,2 @@\n def add(a: int, b: int) -> int:\n-{old}\n+{new}\n"
    change = {"path": path, "patch": patch}
    return {"changes": [change if fallback is None else {**change, "fallbackContent": fallback}]}


@dataclass(frozen=True, slots=True)
class Situation:
    """One of the seed's section 10: what is asked for, and what must be told of it."""

    name: str
    files: Mapping[str, str]
    answers: Sequence[object]
    test_command: str | None = None
    validation_commands: tuple[str, ...] = ()
    most: int = 2
    commit: bool = False
    status: str = "success"
    stop: str | None = None
    kinds: tuple[str | None, ...] = (None,)
    """The classification of each attempt; None for one that passed."""
    ran: tuple[tuple[str, ...], ...] = (("custom",),)
    """The stages of each attempt's validation, with `-` before one that was skipped."""
    applied: Mapping[str, str] = field(default_factory=dict)
    """What the tree holds afterwards."""
    fallbacks: tuple[str, ...] = ()

    def asked(self, tree: Path) -> Doc:
        """The request as JSON."""
        asked = {"repo": str(tree), "task": TASK, "maxAttempts": self.most, "agents": [agent(*self.answers)]}
        if self.test_command is not None:
            asked["testCommand"] = self.test_command
        if self.validation_commands:
            asked["validationCommands"] = list(self.validation_commands)
        return asked


_NODE = {
    "package.json": json.dumps({"scripts": {"lint": "node --check add.js", "test": "node test.js"}}),
    "add.js": "exports.add = (a, b) => a - b\n",
    "test.js": "require('node:assert').strictEqual(require('./add.js').add(2, 3), 5)\n",
}
_PYTEST = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 pytest -q"
_PIPELINE = ("lint", "typecheck", "test")
_UNTYPED = ("lint", "-typecheck", "test")
_ALONE = ("-lint", "-typecheck", "test")
_RIGHT = put("calc.py", MENDED)
_42 = put("answer.txt", "42\n")
_DONE = {"calc.py": MENDED}
_LINT = put("calc.py", "import os\n\n\n" + MENDED)
_TYPE = put("calc.py", MENDED.replace("a + b", "str(a + b)"))
_TEST = put("calc.py", MENDED.replace("+", "*"))
_LIMIT = {".github/mendbot.yml": "checks:\n  test: { timeout: 1 }\n"}
_OLD, _NEW = "    return a - b", "    return a + b"

SITUATIONS = (
    Situation("pipeline success", PYTHON, [_RIGHT], _PYTEST, ran=(_PIPELINE,), applied=_DONE),
    Situation(
        "lint failure",
        UNTYPED,
        [_LINT, _RIGHT],
        _PYTEST,
        kinds=("lint", None),
        ran=(("lint",), _UNTYPED),
        applied=_DONE,
    ),
    Situation(
        "typecheck failure",
        PYTHON,
        [_TYPE, _RIGHT],
        _PYTEST,
        kinds=("type", None),
        ran=(("lint", "typecheck"), _PIPELINE),
        applied=_DONE,
    ),
    Situation(
        "test failure", UNTYPED, [_TEST, _RIGHT], _PYTEST, kinds=("test", None), ran=(_UNTYPED,) * 2, applied=_DONE
    ),
    Situation(
        "a node project",
        _NODE,
        [put("add.js", "exports.add = (a, b) =>\n"), put("add.js", _NODE["add.js"].replace("-", "+"))],
        "npm test",
        kinds=("lint", None),
        ran=(("lint",), _UNTYPED),
        applied={"add.js": _NODE["add.js"].replace("-", "+")},
    ),
    Situation(
        "runtime failure by a missing command",
        PLAIN,
        [_42],
        "no-such-program --at-all",
        most=1,
        status="failed",
        stop="max_iterations",
        kinds=("runtime",),
        ran=(_ALONE,),
    ),
    Situation(
        "runtime failure by time-out",
        {**PLAIN, **_LIMIT},
        [_42],
        f"sleep {LONG}",
        most=1,
        commit=True,
        status="failed",
        stop="max_iterations",
        kinds=("runtime",),
        ran=(_ALONE,),
    ),
    Situation(
        "custom command, unknown",
        PLAIN,
        [_42],
        validation_commands=("exit 3",),
        most=1,
        status="failed",
        stop="max_iterations",
        kinds=("unknown",),
    ),
    Situation(
        "patch success", PYTHON, [diff("calc.py", _OLD, _NEW)], validation_commands=("grep + calc.py",), applied=_DONE
    ),
    Situation(
        "patch fallback",
        PYTHON,
        [diff("calc.py", "    return nothing of the kind", _NEW, MENDED)],
        validation_commands=("grep + calc.py",),
        applied=_DONE,
        fallbacks=("calc.py",),
    ),
    Situation("testCommand only", PLAIN, [_42], IS_42, ran=(_ALONE,), applied={"answer.txt": "42\n"}),
    Situation(
        "validationCommands only",
        PLAIN,
        [put("answer.txt", "40\n"), _42],
        validation_commands=("cat first", IS_42, "cat later"),
        kinds=("unknown", None),
        ran=(("custom", "custom"), ("custom",) * 3),
        applied={"answer.txt": "42\n"},
    ),
)
SITUATION_NAMES = [situation.name for situation in SITUATIONS]


def request(asked: Doc) -> SessionRequest:
    """As the library takes it."""
    parsed = parse_request(asked)
    assert isinstance(parsed, SessionRequest), parsed
    return parsed


def of_type(doc: Doc, *types: str) -> list[Doc]:
    return [event for event in doc["events"] if event["type"] in types]


def validations(doc: Doc) -> list[Doc]:
    return [artifact for artifact in doc["artifacts"] if artifact["phase"] == "validation"]


def assert_told(doc: Doc, situation: Situation, tree: Path, before: Mapping[str, tuple[int, bytes]]) -> None:
    """That a face tells of a situation what there is to tell, and that the tree is as it should be."""
    attempts = len(situation.kinds)
    assert (doc["status"], doc["iteration"]) == (situation.status, attempts), doc.get("stopReason")
    assert doc.get("stopReason", {}).get("reason") == situation.stop
    found = validations(doc)
    assert tuple(item.get("classification") for item in found) == situation.kinds
    assert (
        tuple(tuple("-" * step["skipped"] + step["stage"] for step in item["steps"]) for item in found) == situation.ran
    )
    assert [item["iteration"] for item in found] == list(range(1, attempts + 1))
    assert doc["artifactRefs"]["validation"] == found[-1]["id"]
    verdicts = of_type(doc, "tests_passed", "tests_failed")
    assert tuple(event.get("classification") for event in verdicts) == situation.kinds
    assert [event["data"]["path"] for event in of_type(doc, "patch_fallback_applied")] == list(situation.fallbacks)
    assert {name: (tree / name).read_text() for name in situation.applied} == dict(situation.applied)
    if situation.status == "success":
        assert doc["changedPaths"] == list(situation.applied)
    else:
        assert photograph(tree) == before
    assert_in_order(doc)


def assert_in_order(doc: Doc) -> None:
    """REQ-RUN-007: ids grow, phases come in their order, and what belongs to an attempt says to which."""
    events = doc["events"]
    ids = [event["id"] for event in events]
    assert ids == sorted(set(ids))
    assert (events[0]["type"], events[-1]["type"]) == ("session_started", "session_finished")
    begun = list(dict.fromkeys(event["phase"] for event in of_type(doc, "phase_started")))
    assert begun == ["planning", "architecture", "design", "implementation", "validation"][: len(begun)]
    assert [event["phase"] for event in of_type(doc, "phase_skipped")] == ["review", "packaging"]
    within = [event for event in events if event.get("phase") in ("implementation", "validation")]
    turns = [event["iteration"] for event in within if event["type"] != "phase_skipped"]
    assert turns == sorted(turns)
    for failed in of_type(doc, "validation_command_failed", "tests_failed"):
        assert failed["classification"] in ("lint", "type", "test", "runtime", "unknown")
    # before the first attempt they run on the base, of which there is no validation
    started = [event for event in of_type(doc, "validation_command_started") if event["iteration"]]
    ran = [step for item in validations(doc) for step in item["steps"] if not step["skipped"]]
    assert [event["data"]["command"] for event in started] == [step["command"] for step in ran]
