"""A project's configuration files, read with care: no link followed, nothing large, a broken file noted and not fatal.
They are untrusted (T33), and whoever detects commands must never stop at a syntax error in one of them."""

from __future__ import annotations

import configparser
import errno
import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.errors import Refused
from bot.model.reasons import Reason
from bot.rules.reasons import make_reason
from bot.rules.setup.manifests import PackageJson, Pyproject
from bot.rules.toml_reader import read_toml
from bot.workspace.files.nofollow import read_state

_MAX_BYTES = 1_000_000
_ENTRIES = 5_000
_DEPTH = 4
NOT_OURS = frozenset({"node_modules", "venv", "env", "build", "dist", "target", "vendor", "__pycache__"})
"""Directories of what was installed or made."""


@dataclass(slots=True)
class Project:
    """One look at a directory of a tree. `looked_for` grows with what was sought in vain, and what could not be read.

    `directory` is relative to `tree`, with `/`, and "" for the tree itself; all paths below are relative to it."""

    tree: Path
    directory: str = ""
    looked_for: list[Reason] = field(default_factory=list)
    _texts: dict[str, str | None] = field(default_factory=dict)
    _package: PackageJson | None = None
    _pyproject: Pyproject | None = None

    def at(self, directory: str) -> Project:
        """The same look at another directory of the tree."""
        return self if directory == self.directory else Project(self.tree, directory)

    def upwards(self) -> list[Project]:
        """The directory and all above it, the tree last."""
        parts = self.directory.split("/") if self.directory else []
        return [self.at("/".join(parts[:length])) for length in range(len(parts), -1, -1)]

    @property
    def place(self) -> Path:
        """The directory itself."""
        return self.tree / self.directory

    def within(self, name: str) -> str:
        """The name of a file here, relative to the tree."""
        return f"{self.directory}/{name}" if self.directory else name

    def shell(self, command: str) -> str:
        """The shell command that does this here, started in the tree."""
        return f"cd {quoted_directory(self.directory)} && {command}" if self.directory else command

    def missing(self, kind: str, **values: str) -> None:
        """Records what was looked for in vain, as a reason of that kind; the same one once."""
        what = make_reason(kind, **values)
        if what not in self.looked_for:
            self.looked_for.append(what)

    def text(self, path: str) -> str | None:
        """The file's text, or None where there is none or none that may be read."""
        if path not in self._texts:
            self._texts[path] = self._read(path)
        return self._texts[path]

    def has(self, *paths: str) -> bool:
        """Whether one of the files is there and readable."""
        return any(self.text(path) is not None for path in paths)

    def has_file(self, path: str) -> bool:
        """Whether there is a file, which may be too large or no text: it is not read."""
        return os.path.isfile(self.place / path)  # noqa: PTH113  # Path's own raises where it may not look

    def tool(self, path: str) -> str | None:
        """How to call, from the directory, the program installed there at `path` or above it, the nearest one; or None.

        The tree's own tools are on PATH (`bubblewrap.tree_tools`) by their name. Programs are usually links."""
        return next(filter(None, (self._tool_at(above.directory, path) for above in self.upwards())), None)

    def own_tool(self, path: str) -> str | None:
        """As `tool`, but only what is installed in the directory itself."""
        return self._tool_at(self.directory, path)

    def package(self) -> PackageJson:
        """Its `package.json`; an empty one where that is missing or broken."""
        if self._package is None:
            self._package = PackageJson.model_validate(self.json("package.json"))
        return self._package

    def pyproject(self) -> Pyproject:
        """Its `pyproject.toml`; an empty one where that is missing or broken."""
        if self._pyproject is None:
            self._pyproject = Pyproject.model_validate(self.toml("pyproject.toml"))
        return self._pyproject

    def json(self, path: str) -> Mapping[str, object]:
        """The file's JSON object; empty where it is missing, broken or no object."""
        return self._parsed(path, json.loads)

    def toml(self, path: str) -> Mapping[str, object]:
        """The file's TOML; empty where it is missing or broken."""
        return self._parsed(path, read_toml)

    def ini(self, path: str) -> Mapping[str, Mapping[str, str]]:
        """The file's sections; empty where it is missing or broken."""
        return self.sections(self.text(path) or "", path)

    def sections(self, text: str, path: str) -> Mapping[str, Mapping[str, str]]:
        """The sections of such a text, which stands in the file; empty where it is broken."""
        parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
        try:
            parser.read_string(text)
        except configparser.Error as error:
            self._note("file.broken", path, error)
            return {}
        return {name: dict(parser.items(name)) for name in parser.sections()}

    def names(self, suffix: str) -> Iterator[str]:
        """Relative paths of files that end so, near the top, without hidden and installed directories."""
        left = _ENTRIES
        for directory, below, files in os.walk(self.place):
            here = os.path.relpath(directory, self.place)
            depth = 0 if here == "." else here.count(os.sep) + 1
            below[:] = (
                sorted(name for name in below if name not in NOT_OURS and name[0] != ".") if depth < _DEPTH else []
            )
            for name in sorted(files):
                left -= 1
                if name.endswith(suffix):
                    yield name if depth == 0 else f"{here}/{name}"
            if left < 0:
                return

    def _tool_at(self, place: str, path: str) -> str | None:
        program = self.tree / place / path
        if not (os.path.isfile(program) and os.access(program, os.X_OK)):  # noqa: PTH113
            return None
        return os.path.relpath(path, os.path.relpath(self.directory or ".", place or ".")) if place else program.name

    def _read(self, path: str) -> str | None:
        try:
            state = read_state(self.tree, self.within(path), limit=_MAX_BYTES)
        except (OSError, Refused) as error:
            if isinstance(error, OSError) and error.errno == errno.EFBIG:
                self.missing("file.too_large", path=path)
            else:
                self._note("file.unreadable", path, error)
            return None
        return None if state is None else state.content.decode("utf-8-sig", "replace")

    def _parsed(self, path: str, parse: Callable[[str], object]) -> Mapping[str, object]:
        text = self.text(path)
        if text is None:
            return {}
        try:
            value = parse(text)
        except (ValueError, RecursionError) as error:  # both decoders' errors are ValueErrors
            self._note("file.broken", path, error)
            return {}
        if not isinstance(value, dict):
            self.missing("file.no_object", path=path)
            return {}
        return value

    def _note(self, kind: str, path: str, error: Exception) -> None:
        self.missing(kind, path=path, error=_first_line(error))


def section(data: Mapping[str, object], *keys: str) -> Mapping[str, object] | None:
    """The mapping at `keys`, or None where there is none."""
    value: object = data
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else None


def quoted_directory(directory: str) -> str:
    """A directory of the tree as a word for a shell, which no program takes for an option."""
    return shlex.quote(f"./{directory}" if directory.startswith("-") else directory)


def _first_line(error: Exception) -> str:
    return re.sub(r"\s+", " ", str(error))[:200] or type(error).__name__
