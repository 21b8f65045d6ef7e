"""`docs/agents.md` names the versions of the coding agents that `make agents` installs and tests."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "e2e" / "agents" / "programs"


def test_the_documented_versions_are_those_that_are_tested() -> None:
    """REQ-RUN-008."""
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `\w+` \| [^|]+ (\d+\.\d+[\d.]*) \|", page, re.MULTILINE))
    versions = json.loads((PROGRAMS / "package.json").read_text(encoding="utf-8"))["dependencies"].values()
    (pin,) = (PROGRAMS / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert documented == {*versions, pin.partition("==")[2]}
