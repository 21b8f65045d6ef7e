"""*Patches that models write*: real diffs, written wrong in twenty ways, put to us and to what else could apply them.
Each result is compared with the true one byte by byte: what is refused does no harm, what is silently wrong does."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks import mutants, releases
from benchmarks.mutants import KINDS, Mutant
from benchmarks.result import Result, Row
from bot.errors import UserError
from bot.model import Change
from bot.workspace.patch import apply_changes

Verdict = Literal["right", "refused", "wrong"]
Applier = Callable[[Path, str], bool]
"""Applies a diff to `file` below the directory; whether it says that it could."""

OURS = "ours"
_FILE = "file"


@dataclass(frozen=True, slots=True)
class Size:
    """So many diffs, each in every kind that can be made of it; the same ones for the same seed."""

    cases: int = 50
    seed: int = 1
    references: bool = True


@dataclass(frozen=True, slots=True)
class _Tried:
    kind: str
    determinable: bool
    verdicts: dict[str, Verdict]


def measure(size: Size) -> Result:
    """Every mutant to every applier; raises RuntimeError where the packages can't be fetched."""
    rng = random.Random(size.seed)
    appliers = _appliers(size.references)
    tried: list[_Tried] = []
    with tempfile.TemporaryDirectory(prefix="mendbot-bench-") as where:
        for case in releases.cases(size.cases, rng):
            for kind, mutate in KINDS.items():
                mutant = mutate(mutants.of(case), rng)
                if mutant is None:
                    continue
                verdicts = {name: _verdict(apply, mutant, Path(where)) for name, apply in appliers.items()}
                tried.append(_Tried(kind, mutants.determinable(mutant), verdicts))
    return _result(size, tried, list(appliers))


def _appliers(references: bool) -> dict[str, Applier]:
    ours: dict[str, Applier] = {OURS: _ours}
    if not references:
        return ours
    git = {
        f"`git apply{''.join(f' {flag}' for flag in flags)}`": _command("git", "apply", *flags, "-")
        for flags in ((), ("--recount",), ("-C1", "--recount", "--ignore-whitespace"))
    }
    gnu = {"GNU patch": _command("patch", "-p1", "-s", "-f", "--no-backup-if-mismatch", "-r", "-")}
    return ours | git | (gnu if shutil.which("patch") else {})


def _ours(directory: Path, patch: str) -> bool:
    try:
        asyncio.run(apply_changes(directory, [Change(path=_FILE, patch=patch)]))
    except UserError:
        return False
    return True


def _command(*argv: str) -> Applier:
    def apply(directory: Path, patch: str) -> bool:
        # no repository above: git would pass over a file that it does not know
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "GIT_CEILING_DIRECTORIES": str(directory.parent)}
        return not subprocess.run(argv, cwd=directory, env=env, input=patch.encode(), capture_output=True).returncode

    return apply


def _verdict(apply: Applier, mutant: Mutant, directory: Path) -> Verdict:
    file = directory / _FILE
    file.write_bytes(mutant.before.encode())
    if not apply(directory, mutant.patch):
        return "refused"
    right, got = mutant.after.encode(), file.read_bytes()
    if apply is not _ours and "\r\n" in mutant.after + mutant.eol:
        # that we keep the file's line ends shall not count against the others
        right, got = right.replace(b"\r\n", b"\n"), got.replace(b"\r\n", b"\n")
    return "right" if got == right else "wrong"


def _share(tried: Sequence[_Tried], applier: str, verdict: Verdict) -> float:
    return 100 * sum(one.verdicts[applier] == verdict for one in tried) / len(tried) if tried else 0.0


def _result(size: Size, tried: Sequence[_Tried], appliers: Sequence[str]) -> Result:
    clear = [one for one in tried if one.determinable]
    rows = [
        Row("ours: silently wrong, of all", _share(tried, OURS, "wrong"), "%", "at most", 0.0),
        Row("ours: right, where the right result can be told", _share(clear, OURS, "right"), "%", "at least", 95.0),
        Row("ours: right, of all", _share(tried, OURS, "right"), "%"),
    ]
    for name in appliers[1:]:
        rows.append(Row(f"{name}: silently wrong, of all", _share(tried, name, "wrong"), "%"))
        rows.append(Row(f"{name}: right, of all", _share(tried, name, "right"), "%"))
    counts = Counter(one.kind for one in tried)
    for kind, count in counts.items():
        same = [one for one in tried if one.kind == kind]
        rows.append(Row(f"ours: right, {kind} ({count})", _share(same, OURS, "right"), "%"))
    notes = (
        f"{len(tried)} diffs, made of {size.cases} real ones between releases of {len(releases.RELEASES)} packages; "
        f"{len(tried) - len(clear)} fit several places and name a wrong one, so that nobody could tell.",
        "What is not right is refused where it is not silently wrong; an agent's fallback content is used then.",
        "A context line is never left out beside added ones: they would seem to belong in its place.",
    )
    return Result("patches that models write", 1, tuple(rows), notes)
