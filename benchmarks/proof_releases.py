"""Cases of `benchmarks.proof` from published releases: a release with faults, and the next one with its fixes and the
tests for them as the right change. The sources come through pip; the wrong changes are derived from the right one."""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.proof_case import COMMANDS, Case, Change, Files, applied, is_test_side, with_changes
from benchmarks.proof_derived import derived
from benchmarks.proof_suite import CACHE, Suite, hidden_passes

RELEASES = Path(__file__).with_name("proof_releases.toml")
_MAX_WRONG = 3
_MAX_TRIED = 8
_OF_A_FIX = ("wrong value", "part of the fix")
_OPPOSITES = (
    (" == ", " != "),
    (" is not ", " is "),
    (" not in ", " in "),
    (" not ", " "),
    (" and ", " or "),
    (" or ", " and "),
    ("True", "False"),
    ("None", "0"),
    (" + ", " - "),
    ("[1:]", ""),
    ("if ", "if not "),
)


def release_cases(suite: Suite) -> list[Case]:
    """A case for each pair of releases. Which wrong changes leave the checks green is found once and then stored."""
    return [_case(entry, suite) for entry in tomllib.loads(RELEASES.read_text(encoding="utf-8"))["release"]]


def _case(entry: Mapping[str, Any], suite: Suite) -> Case:
    paths = entry["paths"]
    before, after = _texts(entry["package"], entry["old"], paths), _texts(entry["package"], entry["new"], paths)
    made = {path: after.get(path) for path in {**before, **after} if before.get(path) != after.get(path)}
    right = Change("right", dict(sorted(made.items())))
    case = Case(
        name=f"{entry['package'].lower()}-{entry['old']}",
        source="release",
        language="python",
        topic="release",
        base="green",
        issue=entry["issue"],
        command=entry.get("command", f"{COMMANDS['python']} tests"),
        files={**before, **_texts(entry["package"], entry["old"], entry.get("also", ()))},
        hidden={path: text for path, text in after.items() if is_test_side(path)},
        changes=(right,),
    )
    return with_changes(case, (right, *_wrong(case, suite)))


def _wrong(case: Case, suite: Suite) -> list[Change]:
    """The first changes of some kinds that leave the checks green and correct nothing, or not all."""
    right = case.changes[0]
    parts = (islice((each for each in _parts(case, right) if each.kind == kind), _MAX_TRIED) for kind in _OF_A_FIX)
    tried = [*(each for some in parts for each in some), *derived(case, limit=_MAX_TRIED)]
    known = [sorted(case.files.items()), case.command, [[change.kind, dict(change.files)] for change in tried]]
    key = sha256(json.dumps(known).encode()).hexdigest()
    where = CACHE / f"{case.name}-{key[:16]}.json"
    if not where.exists():
        numbers = list(_green(case, tried, suite))
        where.write_text(json.dumps(numbers))
    return [tried[number] for number in json.loads(where.read_text())]


def _green(case: Case, tried: Sequence[Change], suite: Suite) -> Iterator[int]:
    """The numbers of the first change of each kind that leaves the checks green and fails the hidden tests."""
    kinds: set[str] = set()
    for number, change in enumerate(tried):
        if change.kind in kinds or len(kinds) == _MAX_WRONG:
            continue
        if suite.passes(case.command, applied(case.files, change.files)) and not hidden_passes(case, change, suite):
            kinds.add(change.kind)
            yield number


def _parts(case: Case, right: Change) -> Iterator[Change]:
    """The fix without its tests, with one line turned into its opposite or one hunk left out."""
    code = {p: t for p, t in right.files.items() if not is_test_side(p) and p.endswith(".py") and "meta" not in p}
    for path, text in code.items():
        old, new = case.files.get(path, "").splitlines(keepends=True), (text or "").splitlines(keepends=True)
        hunks = [
            hunk for hunk in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if hunk[0] != "equal"
        ]
        for number in (n for _, _, _, start, end in hunks for n in range(start, end)):
            for one, other in _OPPOSITES:
                if one in new[number]:
                    changed = [*new[:number], new[number].replace(one, other, 1), *new[number + 1 :]]
                    yield Change(_OF_A_FIX[0], {**code, path: "".join(changed)})
                    break
        for _, first, last, start, end in hunks:
            files = {**code, path: "".join([*new[:start], *old[first:last], *new[end:]])}
            if any(case.files.get(name) != content for name, content in files.items()):
                yield Change(_OF_A_FIX[1], files)


def _texts(package: str, version: str, paths: Sequence[str]) -> Files:
    """The texts of a release below the paths, by name."""
    texts = {}
    with tarfile.open(_archive(package, version)) as archive:
        for member in archive.getmembers():
            name = member.name.partition("/")[2]
            if not member.isfile() or not any(name == path or name.startswith(f"{path}/") for path in paths):
                continue
            data = archive.extractfile(member)
            content = data.read() if data is not None else b""
            if b"\0" not in content:
                texts[name] = content.decode("utf-8", "surrogateescape")
    return texts


def _archive(package: str, version: str) -> Path:
    """The release's source archive, fetched where it is not there yet."""
    folder = CACHE / "sources" / f"{package}-{version}"
    if not any(folder.glob("*.tar.gz")):
        argv = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        argv += ["--no-binary", package, "--dest", str(folder), f"{package}=={version}"]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"pip could not fetch {package} {version}: {done.stderr[-2000:]}")
    return next(folder.glob("*.tar.gz"))
