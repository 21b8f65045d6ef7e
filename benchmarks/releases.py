"""Real changes to real files: what two releases of a package differ in, cut into cases of a few hunks each.
The packages come by name through pip into a directory git does not see; the right result is spliced, never applied."""

from __future__ import annotations

import difflib
import random
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.servers import ROOT

RELEASES: tuple[tuple[str, str, str], ...] = (
    ("bottle", "0.12.25", "0.13.2"),
    ("click", "8.0.4", "8.1.8"),
    ("django-debug-toolbar", "3.8.1", "4.4.6"),
    ("flask", "2.2.5", "3.0.3"),
    ("jinja2", "3.0.3", "3.1.5"),
    ("packaging", "21.3", "24.1"),
    ("requests", "2.28.2", "2.32.3"),
)
_CACHE = ROOT / ".cache" / "bench" / "releases"
_SUFFIXES = (".py", ".js", ".css", ".html", ".md", ".txt", ".toml", ".json")
_CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Hunk:
    """One hunk of a diff. `at` is where its first old line really stands in the file, from 0; `starts` and `counts`
    are what its header says (None: it says none). `lines` have their markers."""

    at: int
    starts: tuple[int, int] | None
    counts: tuple[int, int]
    section: str
    lines: tuple[str, ...]

    @property
    def old(self) -> tuple[str, ...]:
        return tuple(line[1:] for line in self.lines if line[:1] not in ("+", "\\"))


@dataclass(frozen=True, slots=True)
class Case:
    """A file, some of its hunks, and the file after these hunks alone. `others` are the file's further hunks."""

    name: str
    before: str
    after: str
    hunks: tuple[Hunk, ...]
    others: tuple[Hunk, ...]


def cases(count: int, rng: random.Random) -> list[Case]:
    """So many cases of 1 to 4 neighbouring hunks, drawn over all packages alike."""
    files = [file for release in RELEASES for file in _changed(*release)]
    drawn: list[Case] = []
    while len(drawn) < count:
        name, before, hunks = files[rng.randrange(len(files))]
        first = rng.randrange(len(hunks))
        chosen = _renumbered(hunks[first : first + rng.choice((1, 1, 2, 3, 4))])
        others = tuple(hunk for hunk in hunks if hunk.at not in {one.at for one in chosen})
        drawn.append(Case(name, before, spliced(before, chosen), chosen, others))
    return drawn


def spliced(before: str, hunks: Sequence[Hunk]) -> str:
    """The text with the hunks put where they really belong."""
    lines = before.splitlines(keepends=True)
    for hunk in sorted(hunks, key=lambda hunk: hunk.at, reverse=True):
        new = [line[1:] + "\n" for line in hunk.lines if line[:1] != "-"]
        assert [line.rstrip("\n") for line in lines[hunk.at : hunk.at + len(hunk.old)]] == list(hunk.old)
        lines[hunk.at : hunk.at + len(hunk.old)] = new
    return "".join(lines)


def _renumbered(hunks: Sequence[Hunk]) -> tuple[Hunk, ...]:
    shift, made = 0, []
    for hunk in hunks:
        old, new = len(hunk.old), sum(line[:1] != "-" for line in hunk.lines)
        made.append(Hunk(hunk.at, (hunk.at + 1, hunk.at + 1 + shift), (old, new), hunk.section, hunk.lines))
        shift += new - old
    return tuple(made)


def _changed(package: str, old: str, new: str) -> Iterator[tuple[str, str, list[Hunk]]]:
    before, after = texts_of(package, old), texts_of(package, new)
    for name in sorted(before.keys() & after.keys()):
        hunks = _hunks(before[name], after[name])
        if hunks:
            yield f"{package}/{name}", before[name], hunks


def texts_of(package: str, version: str) -> Mapping[str, str]:
    """The release's texts of plain line ends by name."""
    folder = _CACHE / f"{package}-{version}"
    if not any(folder.glob("*.whl")):
        argv = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        argv += ["--only-binary", ":all:", "--dest", str(folder), f"{package}=={version}"]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"pip could not fetch {package} {version}: {done.stderr[-2000:]}")
    (wheel,) = folder.glob("*.whl")
    found = {}
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if not name.endswith(_SUFFIXES) or ".dist-info" in name or ".min." in name:
                continue
            text = archive.read(name).decode("utf-8", "replace")
            if text.endswith("\n") and "\r" not in text and text.splitlines() == text[:-1].split("\n"):
                found[name] = text
    return found


def _hunks(before: str, after: str) -> list[Hunk]:
    """The hunks of `diff -u`; a new file's would say nothing here, so an empty side gives none."""
    old, new = before.splitlines(), after.splitlines()
    hunks = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT):
        lines: list[str] = []
        for tag, first, last, start, end in group:
            if tag == "equal":
                lines += [" " + line for line in old[first:last]]
                continue
            lines += ["-" + line for line in old[first:last]]
            lines += ["+" + line for line in new[start:end]]
        at = group[0][1]
        section = next((line for line in reversed(old[:at]) if line[:1].isalpha() or line[:1] in ("_", "$")), "")
        counts = (group[-1][2] - at, group[-1][4] - group[0][3])
        hunks.append(Hunk(at, (at + 1, group[0][3] + 1), counts, section[:80], tuple(lines)))
    return hunks
