"""Decides what a change may touch, from its paths, its diff texts and its result. Agents and diffs are untrusted
(threats T20-T22), so this comes first, and no refused path is ever written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Protocol

from bot.model import Change
from bot.model.reasons import Reason
from bot.rules.patches.diff_parser import FileDiff, parse_diff, without_prefix
from bot.rules.reasons import all_reasons, make_reason

MAX_FILES = 200
MAX_BYTES = 1_000_000
_MAX_NAMED = 5
"""The limit of refused paths that one reason names."""
REGULAR_MODES = ("100644", "100755")

LOCK_FILES: tuple[str, ...] = (
    "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb",
    "poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "pylock*.toml", "requirements*.lock",
    "Cargo.lock", "go.sum", "Gemfile.lock", "composer.lock", "gradle.lockfile", "flake.lock", "packages.lock.json",
)  # fmt: skip
"""A changed one brings in other people's code."""

DEFAULT_PROTECTED: tuple[str, ...] = (
    ".github/mendbot.yml", ".gitattributes", "/CODEOWNERS", ".github/CODEOWNERS", "docs/CODEOWNERS",
    # what runs by itself: git hooks and other people's CI
    ".husky", ".githooks", "/.lefthook*", "/lefthook.y*ml", ".pre-commit-config.yaml", ".github/actions",
    "/.gitlab-ci.yml", ".circleci", ".buildkite", "/.travis.yml", "/azure-pipelines.yml", "/Jenkinsfile",
    *LOCK_FILES,
)  # fmt: skip
"""Protected unless `protected_paths` of the repository lifts one by `!GLOB`; other globs there are added (spec K)."""

_DRIVE = re.compile(r"[A-Za-z]:")
_SHORT_NAMES = re.compile(r"(git|gitmod|gi7eba|gitatt|gi7d29)~\d+")
_LONG_NAMES = {"git": ".git", "gitmod": ".gitmodules", "gi7eba": ".gitmodules"}
_BIDI = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a change is refused: a stable code for programs, and a reason that names the path."""

    reason: str
    because: Reason


class Changed(Protocol):
    """One file's difference between two trees, with git's modes (`workspace.git.tree.PathChange`)."""

    @property
    def path(self) -> str: ...
    @property
    def old_mode(self) -> str: ...
    @property
    def new_mode(self) -> str: ...
    @property
    def binary(self) -> bool: ...
    @property
    def size(self) -> int: ...


def check_path(path: str, protected: Sequence[str] = ()) -> Refusal | None:
    """Why a change may not write or delete `path` (relative to the tree, `/` between parts); None where it may.

    Spellings that another file system treats as `.git` count as such (git's verify_path, core.protectHFS and
    core.protectNTFS)."""
    shown = repr(path[:200])
    if any(unicodedata.category(char) in ("Cc", "Cs") or char in _BIDI for char in path):
        return _refusal("control_character", "control_name", path=shown)
    if path.startswith(("/", "\\")) or _DRIVE.match(path):
        return _refusal("absolute_path", "absolute", path=shown)
    parts = re.split(r"[/\\]", path)
    if ".." in parts:
        return _refusal("outside_tree", "outside", path=shown)
    names = tuple(map(_plain_name, parts))
    if ".git" in names:
        return _refusal("git_directory", "git", path=shown)
    if "\\" in path or any(part in ("", ".") or len(part.encode()) > 255 for part in parts) or len(path) > 4000:
        return _refusal("odd_path", "odd_path", path=shown)
    if ".gitmodules" in names:
        return _refusal("gitmodules", "submodules", path=shown)
    if names[:2] == (".github", "workflows"):
        return _refusal("workflow_file", "workflow", path=shown)
    if glob := _protecting(names, (*DEFAULT_PROTECTED, *protected)):
        return _refusal("protected_path", "protected", path=shown, glob=glob)
    return None


def check_patch_text(text: str, path: str) -> Refusal | None:
    """Why the diff may not be applied for `path` (which is checked apart); None where it is text, small, of regular
    modes, and of no other file."""
    if _bytes(text) > MAX_BYTES:
        return _refusal("too_large", "diff_size", path=repr(path), most=f"{MAX_BYTES:,}")
    if "\0" in text:
        return _refusal("control_character", "nul", path=repr(path))
    for part in parse_diff(text):
        if part.binary:
            return _refusal("binary_patch", "binary_diff", path=repr(path))
        refusal = _check_names(part, path) or _check_modes(path, part.modes)
        if refusal:
            return refusal
    return None


def check_changes(changed: Sequence[Changed], protected: Sequence[str] = ()) -> Refusal | None:
    """Why the difference of a whole tree is refused, for instance after an agent edited in place; None if it is not.
    The code is that of the first refused path; the reason names up to five."""
    if len(changed) > MAX_FILES:
        return _refusal("too_many_files", "files", files=len(changed), most=MAX_FILES)
    if (total := sum(item.size for item in changed)) > MAX_BYTES:
        return _refusal("too_large", "size", size=f"{total:,}", most=f"{MAX_BYTES:,}")
    return _together([refusal for _, refusal in refused_changes(changed, protected)])


def refused_changes(changed: Sequence[Changed], protected: Sequence[str] = ()) -> tuple[tuple[str, Refusal], ...]:
    """Each refused path with its refusal; a caller can restore these and keep the rest."""
    return tuple((item.path, refusal) for item in changed if (refusal := _check_changed(item, protected)))


def check_proposed(changes: Sequence[Change], protected: Sequence[str] = ()) -> Refusal | None:
    """Why an agent's proposal is refused, before anything else of it is read; as `check_changes`."""
    if len({change.path for change in changes}) > MAX_FILES:
        return _refusal("too_many_files", "files_proposed", files=len(changes), most=MAX_FILES)
    texts = [text for c in changes for text in (c.patch, c.fallback_content, c.content) if text]
    if sum(map(_bytes, texts)) > MAX_BYTES:
        return _refusal("too_large", "size_proposed", most=f"{MAX_BYTES:,}")
    return _together([refusal for change in changes if (refusal := _check_proposed(change, protected))])


def _check_proposed(change: Change, protected: Sequence[str]) -> Refusal | None:
    refusal = check_path(change.path, protected)
    if refusal is None and change.patch:
        refusal = check_patch_text(change.patch, change.path)
    return refusal


def _together(refusals: Sequence[Refusal]) -> Refusal | None:
    """All refusals as one, so that an agent can leave out all of these paths."""
    reasons = tuple(dict.fromkeys(one.because for one in refusals))
    return Refusal(refusals[0].reason, all_reasons(reasons, _MAX_NAMED)) if reasons else None


def _refusal(reason: str, kind: str, **values: str | int) -> Refusal:
    return Refusal(reason, make_reason(f"refused.{kind}", **values))


def _check_names(part: FileDiff, path: str) -> Refusal | None:
    for name in (*part.names, *part.moved):
        bare = name if name in part.moved else without_prefix(name)
        # a prefix may be a directory's name as well: the path of the change decides
        if path in (name, bare):
            continue
        return check_path(bare) or _refusal("path_mismatch", "other_file", path=repr(path), other=repr(name[:200]))
    return None


def _check_modes(path: str, modes: Iterable[str]) -> Refusal | None:
    for mode in modes:
        if mode == "120000":
            return _refusal("symlink", "symlink", path=repr(path))
        if mode == "160000":
            return _refusal("gitlink", "gitlink", path=repr(path))
        if mode not in REGULAR_MODES:
            return _refusal("odd_mode", "mode", path=repr(path), mode=mode[:20])
    return None


def _check_changed(item: Changed, protected: Sequence[str]) -> Refusal | None:
    if refusal := check_path(item.path, protected):
        return refusal
    if item.old_mode == "160000":
        return _check_modes(item.path, [item.old_mode])
    if not item.new_mode.strip("0"):
        return None
    if refusal := _check_modes(item.path, [item.new_mode]):
        return refusal
    if item.binary:
        return _refusal("binary_patch", "binary", path=repr(item.path))
    return None


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _plain_name(part: str) -> str:
    """What a careless file system may take the name for: HFS+ skips invisible characters and folds case, NTFS
    drops dots and spaces at the end, cuts at a colon and knows short names."""
    visible = "".join(char for char in part if unicodedata.category(char) != "Cf")
    name = visible.casefold().split(":", 1)[0].rstrip(" .")
    if short := _SHORT_NAMES.fullmatch(name):
        return _LONG_NAMES.get(short[1], ".gitattributes")
    return name


def _protecting(names: tuple[str, ...], globs: Sequence[str]) -> str | None:
    """The glob that protects the path; the last one that matches decides, as in a .gitignore."""
    for glob in reversed(globs):
        lifted = glob.startswith("!")
        if matches(names, glob.removeprefix("!")):
            return None if lifted else glob
    return None


def matches(names: Sequence[str], glob: str) -> bool:
    """Whether the glob names this path or a directory above it, ignoring case: `**` is any number of directories,
    and a glob without a slash matches a name at any depth."""
    wanted = tuple(glob.strip("/").casefold().split("/"))
    if "/" not in glob.rstrip("/"):
        wanted = ("**", *wanted)

    # from the end to the beginning and not by recursion, for a path may have thousands of parts
    most = len(names)
    fits = [True] * (most + 1)  # whether the pattern's rest, empty at first, fits the names from each place on
    for number, part in enumerate(reversed(wanted)):
        if part == "**":
            below = [at < most and (number == 0 or fits[at]) for at in range(most + 1)]
            for at in range(most - 1, -1, -1):
                below[at] = below[at] or below[at + 1]
            fits = below
        else:
            fits = [at < most and fits[at + 1] and fnmatchcase(names[at], part) for at in range(most + 1)]
    return bool(glob) and fits[0]
