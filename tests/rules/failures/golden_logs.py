"""The golden logs of `fixtures/logs` as values: what a tool printed or wrote, and the places that are in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TREE = "/home/runner/code/app"
LOGS = Path(__file__).parents[3] / "fixtures" / "logs"

Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Golden:
    name: str
    suffix: str  # .log, .xml or .sarif
    text: str
    rows: tuple[tuple[str, int, str, str, str], ...]  # path, line, column, level, rule
    failed: tuple[str, ...]  # the names of the failed tests, sorted; empty where the tool runs none

    @property
    def places(self) -> set[Place]:
        return {(path, line) for path, line, *_ in self.rows}


def golden() -> Iterator[Golden]:
    """Every log and report, in the order of their names."""
    for file in sorted(LOGS.glob("*/*.tsv")):
        plain = file.with_suffix("")
        source = plain if plain.suffix in (".xml", ".sarif") else file.with_suffix(".log")
        rows = (line.split("\t") for line in file.read_text(encoding="utf-8").split("\n") if line)
        places = tuple((path, int(line), column, level, rule) for path, line, column, level, rule in rows)
        name = str(source.relative_to(LOGS))
        names = plain.with_suffix(".tests")
        failed = tuple(sorted(names.read_text(encoding="utf-8").splitlines())) if names.exists() else ()
        yield Golden(name, source.suffix, source.read_bytes().decode("utf-8"), places, failed)
