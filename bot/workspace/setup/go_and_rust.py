"""How Go modules and Rust packages are set up: what they require is downloaded into the tree, as no check has network.
Reads files of the tree and runs nothing; downloading runs no code of the project or of a package (T31)."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from bot.model import CheckName, ShellCommand
from bot.model.setups import SetupStep
from bot.rules.setup.manifests import packages_elsewhere
from bot.rules.setup.needed_programs import program
from bot.workspace.files.project_files import Project
from bot.workspace.files.tree_digest import Walk
from bot.workspace.sandbox.bubblewrap import CARGO_HOME, GO_MODULES

_RUNNERS = ("make", "just")
_MAX_NAMES = 100_000
_REQUIRES = re.compile(r"^require\b[ \t]*(?:\([^()]*\w[^()]*\)|[^\s(].*)", re.MULTILINE)
_FROM_ELSEWHERE = re.compile(r'^source = "', re.MULTILINE)
_GO_FILES = ("go.mod", "go.sum", "go.work", "go.work.sum")
_CARGO_FILES = ("Cargo.toml", "Cargo.lock")


def native_steps(tree: Path, commands: Mapping[CheckName, ShellCommand]) -> tuple[SetupStep, ...]:
    """The steps for the Go modules and Rust packages of `tree` (absolute) that its checks' `commands` need; none where
    nothing must be download_variables, or it is there."""
    called = [(program(command.argv), command.directory) for command in commands.values()]
    go = dict.fromkeys(place for name, place in called if name in ("go", "golangci-lint", *_RUNNERS))
    cargo = dict.fromkeys(place for name, place in called if name in ("cargo", *_RUNNERS))
    return (*_go(tree, go), *_cargo(tree, cargo))


def _go(tree: Path, directories: Iterable[str]) -> Iterator[SetupStep]:
    places = [place for place in directories if _go_requires(Project(tree, place))]
    if not places or os.path.lexists(tree / GO_MODULES):
        return
    each = [f"({Project(tree, place).shell('go mod download')})" if place else "go mod download" for place in places]
    # what Go keeps there is read-only, which makes it hard to delete
    begin = f'export GOMODCACHE="$PWD/{GO_MODULES}" GOFLAGS=-modcacherw'
    yield _download(tree, [begin, *each], f"{places[0]}/go.mod".lstrip("/"), _GO_FILES, GO_MODULES)


def _go_requires(project: Project) -> bool:
    """Whether a module requires others that are not in its `vendor` directory."""
    text = re.sub(r"//.*", "", project.text("go.mod") or "")
    return _REQUIRES.search(text) is not None and not project.has_file("vendor/modules.txt")


def _cargo(tree: Path, directories: Iterable[str]) -> Iterator[SetupStep]:
    homes = [home for place in directories if (home := _cargo_home(Project(tree, place))) is not None]
    if not homes or os.path.lexists(tree / CARGO_HOME):
        return
    # not from the tree: there its `.cargo/config.toml` and `rust-toolchain.toml` may name programs that cargo starts
    begin = f'tree="$PWD" && export CARGO_HOME="$tree/{CARGO_HOME}" && mkdir -p "$CARGO_HOME" && cd /'
    manifests = [home.within("Cargo.toml") for home in homes]
    locks = ["--locked " if home.has_file("Cargo.lock") else "" for home in homes]
    each = [
        f'cargo fetch {lock}--manifest-path "$tree"/{shlex.quote(manifest)}'
        for lock, manifest in zip(locks, manifests, strict=True)
    ]
    yield _download(tree, [begin, *each], manifests[0], _CARGO_FILES, CARGO_HOME)


def _cargo_home(project: Project) -> Project | None:
    """The package or workspace with the lock file, if it needs packages from elsewhere; else None."""
    manifests = [here for here in project.upwards() if here.has("Cargo.toml")]
    if not manifests or any(map(_is_vendored, manifests)):
        return None
    home = next((here for here in manifests if here.has_file("Cargo.lock")), manifests[-1])
    lock = home.text("Cargo.lock")
    if lock is not None:
        return home if _FROM_ELSEWHERE.search(lock) else None
    if home.has_file("Cargo.lock"):  # too large to be read, so it has something in it
        return home
    return home if any(packages_elsewhere(home.toml(name)) for name in home.names("Cargo.toml")) else None


def _is_vendored(project: Project) -> bool:
    """Whether the settings take packages from a directory of the tree (`cargo vendor`)."""
    settings = project.text(".cargo/config.toml") or project.text(".cargo/config") or ""
    return re.search(r"^\s*(?:replace-with|directory)\s*=", settings, re.MULTILINE) is not None


def _download(tree: Path, commands: Sequence[str], because: str, files: Sequence[str], product: str) -> SetupStep:
    walk = Walk(tree, limit=_MAX_NAMES)
    reads = tuple(name for name in walk if name.rpartition("/")[2] in files)
    return SetupStep(
        run=" && ".join(commands),
        because=because,
        network=True,
        shared=not walk.unread,
        reads=reads,
        products=(product,),
    )
