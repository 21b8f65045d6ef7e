"""The ten presets of the session form (REQ-RUN-009), and the sample repository that they work on.

Their agents follow a script, so each preset shows what its name says without a model or a key."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SAMPLE = "sample"
"""In the field of the repository: a new copy of the sample repository."""

_FILES = Path(__file__).parent / "sample.json"
_TEST = "python3 -m unittest -q"
_FIXED = "def add(a: int, b: int) -> int:\n    return a + b\n"
_PATCH = "--- a/calc.py\n+++ b/calc.py\n@@ -1,2 +1,2 @@\n def add(a: int, b: int) -> int:\n-{old}\n+    return a + b\n"


@dataclass(frozen=True, slots=True)
class Preset:
    """The values of the form's fields; the title is `pages.preset.NAME` of the catalog."""

    name: str
    agent: str
    test_command: str = ""
    validation_commands: str = ""
    max_attempts: int = 1
    file_paths: str = "calc.py"

    @property
    def fails(self) -> bool:
        """Whether its session is meant to fail."""
        return self.name.endswith("_failure")


def _agent(change: Mapping[str, str]) -> str:
    """The spec of an agent that always gives this change."""
    return "command:" + shlex.join(["printf", "%s", json.dumps({"changes": [{"path": "calc.py", **change}]})])


def _patch(old: str) -> str:
    return _PATCH.format(old=old)


_RIGHT = _agent({"content": _FIXED})

PRESETS = (
    Preset("pipeline_success", _RIGHT, _TEST),
    Preset("lint_failure", _agent({"content": f"import os\n\n\n{_FIXED}"}), _TEST),
    Preset("typecheck_failure", _agent({"content": _FIXED.replace("a + b", "str(a + b)")}), _TEST),
    Preset("test_failure", _agent({"content": _FIXED.replace("+", "*")}), _TEST),
    Preset("runtime_failure", _RIGHT, "no-such-program"),
    Preset("unknown_failure", _RIGHT, validation_commands="exit 3"),
    Preset("patch_success", _agent({"patch": _patch("    return a - b")}), _TEST),
    Preset("patch_fallback", _agent({"patch": _patch("    return 0"), "fallbackContent": _FIXED}), _TEST),
    Preset("test_command_only", _RIGHT, _TEST),
    Preset("validation_commands_only", _RIGHT, validation_commands=f"python3 checks/unused_imports.py\n{_TEST}"),
)


@cache
def sample_files() -> Mapping[str, str]:
    """The files of the sample repository by path."""
    files: dict[str, str] = json.loads(_FILES.read_text(encoding="utf-8"))
    return files
