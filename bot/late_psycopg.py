"""Imports psycopg on its first use: dbos imports it for the names of its errors, and a server on SQLite would hold its
9 MB unused (performance.md, *idle*)."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType

_NAMES = ("psycopg", "psycopg.errors")


class _Late(ModuleType):
    """Placeholder that the real module replaces when one of its attributes is read."""

    __path__: list[str] = []  # noqa: RUF012  # what makes a module a package

    def __getattr__(self, name: str) -> object:
        module = f"{self.__name__}.{name}"
        if module in _NAMES and sys.modules.get(self.__name__) is self:
            return sys.modules.setdefault(module, _Late(module))
        for late in _NAMES:
            if isinstance(sys.modules.get(late), _Late):
                del sys.modules[late]
        return getattr(importlib.import_module(self.__name__), name)


def import_late() -> None:
    """Let `import psycopg` and `from psycopg import errors` load nothing yet. Changes nothing where it is loaded or
    not installed."""
    if "psycopg" not in sys.modules and importlib.util.find_spec("psycopg") is not None:
        sys.modules["psycopg"] = _Late("psycopg")
