"""The table of changed tests, by framework: what must be refused, noted and accepted (REQ-PROOF-008)."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bot.rules.tampering.weakened_tests import FileTexts, weakened

FOLDER = Path(__file__).parents[3] / "fixtures" / "weakened"
PAIRS: dict[str, tuple[str, list[FileTexts]]] = {}


def files_of(table: dict[str, Any], pair: dict[str, Any]) -> list[FileTexts]:
    path, before = table["path"], pair.get("before", table["base"])
    after = before
    for old, new in pair["swap"]:
        assert old in after, f"{pair['name']}: the text has no {old!r}"
        after = after.replace(old, new)
    also = [FileTexts(one["path"], one.get("before"), one["after"]) for one in pair.get("also", [])]
    if "to" in pair:
        return [FileTexts(path, before, None), FileTexts(pair["to"], None, after), *also]
    return [FileTexts(path, before, after), *also]


for source in sorted(FOLDER.glob("*.toml")):
    read = tomllib.loads(source.read_text(encoding="utf-8"))
    for row in read["pair"]:
        name = f"{source.stem}: {row['name']}"
        assert name not in PAIRS, name
        PAIRS[name] = (row["expect"], files_of(read, row))


@pytest.mark.parametrize("name", PAIRS)
def test_a_change_of_tests_is_judged_as_a_person_would(name: str) -> None:
    """REQ-PROOF-008."""
    expected, files = PAIRS[name]
    found = weakened(files)
    verdict = "refused" if any(one.severity == "refuse" for one in found) else "noted" if found else "accepted"
    assert verdict == expected, found


def test_the_table_is_large_enough() -> None:
    """Issue 11: at least 120 pairs, 8 for each framework, a third of them honest."""
    frameworks = Counter(name.partition(":")[0] for name in PAIRS)
    assert len(PAIRS) >= 120
    assert len(frameworks) == 13
    assert min(frameworks.values()) >= 8
    assert 3 * sum(expected != "refused" for expected, _ in PAIRS.values()) >= len(PAIRS)
