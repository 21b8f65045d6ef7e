"""Bugs of a local clone whose real fix is known: the parent of a commit that fixed one, with that commit's tests.
Where a clone has no such commit, one operator of its newest commit is turned into its opposite."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_TEST = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?|testing|typescript_test)/|(?:_test|\.test|\.spec|\.test-d)\."
    r"|(?:^|/)test_[^/]+\.py$|(?:^|/)tests?\.(?:[cm]?[jt]sx?|py|c)$"
)
_SOURCE = re.compile(r"\.(?:py|[cm]?[jt]sx?|go|rs|c|h)$")
_SETUP = re.compile(
    r"(?:^|/)(?:package\.json|[^/]*lock[^/]*|pyproject\.toml|setup\.(?:py|cfg)|go\.(?:mod|sum)|Cargo\.toml|tox\.ini"
    r"|noxfile\.py|[^/]*\.config\.[cm]?[jt]s)$"
)
_ASIDE = re.compile(r"(?:^|/)(?:docs?|bench\w*|examples?|scripts?|\.\w+)/|\.d\.ts$")
_FIXES = re.compile(r"\b(?:fix\w*|bug|correct\w*|handle|regress\w*|prevent|avoid|ensure|wrong)", re.IGNORECASE)
_LOG = ("log", "--no-merges", "-n", "800", "--format=%x00%H%x09%s", "--name-only")
_CONDITION = re.compile(r"\s*(?:(?:el)?if|while|\}? ?else if)\b.*(?::|\{|\))\s*$|\s*return\b.*[;\w)\]]\s*$")
"""A line of code and not of prose, in most languages."""
_MAX_SOURCES = 3
PLANTED = "planted"
"""In place of a commit: a planted bug, also where the clone has fixes."""
_OPPOSITES = (
    (" == ", " != "),
    (" === ", " !== "),
    (" < ", " >= "),
    (" && ", " || "),
    (" and ", " or "),
    (" + 1", " - 1"),
)


@dataclass(frozen=True, slots=True)
class Case:
    """A bug: `base` shows it by its tests, and with the files of `right` instead of `wrong` it is gone.

    `base` is a commit in `clone`; the mappings are of paths to bytes. `tests` are the files that show the bug."""

    name: str
    clone: Path
    base: str
    subject: str
    wrong: Mapping[str, bytes]
    right: Mapping[str, bytes]
    tests: tuple[str, ...]
    planted: bool = False


def git(clone: Path, *args: str, stdin: bytes | None = None, index: Path | None = None) -> bytes:
    """What git says in a clone; raises CalledProcessError."""
    who = {f"GIT_{role}_{field}": f"benchmark{'@localhost' if field == 'EMAIL' else ''}"
           for role in ("AUTHOR", "COMMITTER") for field in ("NAME", "EMAIL")}  # fmt: skip
    env = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **who}
    if index is not None:
        env["GIT_INDEX_FILE"] = str(index)
    return subprocess.run(
        ["git", "-C", str(clone), *args], check=True, input=stdin, env=env, capture_output=True
    ).stdout


def cases(clone: Path, commit: str = "") -> Iterator[Case]:
    """The bugs of a clone: of one commit, else of those that look like a fix, newest first; then planted ones.

    With PLANTED as the commit they are planted ones alone."""
    name = clone.parent.name if clone.name in ("repo", ".git") else clone.name
    if commit == PLANTED:
        yield from _planted(name, clone)
        return
    if commit:
        files = git(clone, "show", "--format=", "--name-only", commit).decode().split()
        subject = git(clone, "show", "-s", "--format=%s", commit).decode().strip()
        yield _case(name, clone, commit, subject, files)
        return
    for block in git(clone, *_LOG).decode(errors="replace").split("\0")[1:]:
        head, *files = [line for line in block.split("\n") if line]
        sha, _, subject = head.partition("\t")
        if _is_fix(subject, files):
            yield _case(name, clone, sha, subject, files)
    yield from _planted(name, clone)


def _is_fix(subject: str, files: list[str]) -> bool:
    sources = [path for path in files if _is_source(path)]
    tests = [path for path in files if _TEST.search(path) and _SOURCE.search(path)]
    asks_setup = any(_SETUP.search(path) for path in files)
    return bool(_FIXES.search(subject) and tests and not asks_setup and 0 < len(sources) <= _MAX_SOURCES)


def _is_source(path: str) -> bool:
    return bool(_SOURCE.search(path)) and not (_TEST.search(path) or _ASIDE.search(path) or _SETUP.search(path))


def _case(name: str, clone: Path, sha: str, subject: str, files: list[str]) -> Case:
    tests = tuple(path for path in files if _TEST.search(path))
    sources = [path for path in files if _is_source(path)]
    base = _commit_with(
        clone, f"{sha}^", f"Add the tests of {sha[:10]}", {path: _file(clone, sha, path) for path in tests}
    )
    right = {path: content for path in sources if (content := _file(clone, sha, path)) is not None}
    wrong = {path: _file(clone, base, path) or b"" for path in right}
    return Case(name, clone, base, subject, wrong, right, tests)


def _planted(name: str, clone: Path) -> Iterator[Case]:
    paths = [
        path for path in git(clone, "ls-tree", "-r", "--name-only", "HEAD").decode().split("\n") if _is_source(path)
    ]
    texts = {path: _file(clone, "HEAD", path) or b"" for path in paths}
    for path in sorted(texts, key=lambda path: -len(texts[path])):
        lines = texts[path].decode(errors="surrogateescape").splitlines(keepends=True)
        for number, line in enumerate(lines):
            for old, new in _OPPOSITES:
                if old in line and _CONDITION.match(line):
                    broken = [*lines[:number], line.replace(old, new, 1), *lines[number + 1 :]]
                    wrong = "".join(broken).encode(errors="surrogateescape")
                    base = _commit_with(clone, "HEAD", "Change a condition", {path: wrong})
                    subject = f"`{line.strip()[:40]}` behaves the other way round"
                    yield Case(name, clone, base, subject, {path: wrong}, {path: texts[path]}, (), planted=True)


def _file(clone: Path, commit: str, path: str) -> bytes | None:
    try:
        return git(clone, "show", f"{commit}:{path}")
    except subprocess.CalledProcessError:
        return None


def _commit_with(clone: Path, parent: str, message: str, files: Mapping[str, bytes | None]) -> str:
    """A commit on `parent` with these files instead; no ref names it, and None deletes."""
    index = Path(git(clone, "rev-parse", "--absolute-git-dir").decode().strip(), "benchmark-index")
    index.unlink(missing_ok=True)
    git(clone, "read-tree", parent, index=index)
    for path, content in files.items():
        if content is None:
            git(clone, "update-index", "--force-remove", "--", path, index=index)
            continue
        blob = git(clone, "hash-object", "-w", "--stdin", stdin=content).decode().strip()
        git(clone, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", index=index)
    tree = git(clone, "write-tree", index=index).decode().strip()
    index.unlink()
    return git(clone, "commit-tree", tree, "-p", parent, "-m", message).decode().strip()
