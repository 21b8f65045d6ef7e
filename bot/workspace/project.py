"""A tree's configuration files, read with care: no link followed, nothing large, a broken file told and not fatal.
They are untrusted (T33), and whoever detects commands must never stop at a syntax error in one of them."""

from __future__ import annotations

import configparser
import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.errors import Refused
from bot.workspace.nofollow import read_state

_LARGEST = 1_000_000
_ENTRIES = 5_000
_DEPTH = 4
_NOT_OURS = frozenset({"node_modules", "venv", "env", "build", "dist", "target", "vendor", "__pycache__"})


@dataclass(slots=True)
class Project:
    """One look at a tree. `looked_for` grows with what was sought in vain, and with what could not be read."""

    tree: Path
    looked_for: list[str] = field(default_factory=list)
    _texts: dict[str, str | None] = field(default_factory=dict)

    def missing(self, what: str) -> None:
        """Note what was looked for in vain; the same thing once."""
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

    def has_tool(self, path: str) -> bool:
        """Whether a program is installed at `path`; these are links, as a rule, and are not read."""
        return os.access(self.tree / path, os.X_OK)

    def json(self, path: str) -> Mapping[str, Any]:
        """The file's JSON object; empty where it is missing, broken or no object."""
        return self._parsed(path, json.loads)

    def toml(self, path: str) -> Mapping[str, Any]:
        """The file's TOML; empty where it is missing or broken."""
        return self._parsed(path, tomllib.loads)

    def ini(self, path: str) -> Mapping[str, Mapping[str, str]]:
        """The file's sections; empty where it is missing or broken."""
        text = self.text(path)
        parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
        try:
            parser.read_string(text or "")
        except configparser.Error as error:
            self.missing(f"{path} is broken: {_first_line(error)}")
            return {}
        return {name: dict(parser.items(name)) for name in parser.sections()}

    def names(self, suffix: str) -> Iterator[str]:
        """Relative paths of files that end so, near the root, without hidden and installed directories."""
        left = _ENTRIES
        for directory, below, files in os.walk(self.tree):
            here = os.path.relpath(directory, self.tree)
            depth = 0 if here == "." else here.count(os.sep) + 1
            below[:] = (
                sorted(name for name in below if name not in _NOT_OURS and name[0] != ".") if depth < _DEPTH else []
            )
            for name in sorted(files):
                left -= 1
                if name.endswith(suffix):
                    yield name if depth == 0 else f"{here}/{name}"
            if left < 0:
                return

    def _read(self, path: str) -> str | None:
        try:
            state = read_state(self.tree, path)
        except (OSError, Refused) as error:
            self.missing(f"{path} cannot be read: {_first_line(error)}")
            return None
        if state is None:
            return None
        if len(state.content) > _LARGEST:
            self.missing(f"{path} is too large to read ({len(state.content)} bytes)")
            return None
        return state.content.decode("utf-8-sig", "replace")

    def _parsed(self, path: str, parse: Any) -> Mapping[str, Any]:
        text = self.text(path)
        if text is None:
            return {}
        try:
            value = parse(text)
        except (ValueError, RecursionError) as error:  # both decoders' errors are ValueErrors
            self.missing(f"{path} is broken: {_first_line(error)}")
            return {}
        if not isinstance(value, dict):
            self.missing(f"{path} is broken: it is no object")
            return {}
        return value


def section(data: Mapping[str, Any], *keys: str) -> Mapping[str, Any] | None:
    """The mapping at `keys`, or None where there is none."""
    value: Any = data
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else None


def _first_line(error: Exception) -> str:
    return re.sub(r"\s+", " ", str(error))[:200] or type(error).__name__
