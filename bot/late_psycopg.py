"""Stands in for psycopg until something of it is used: dbos imports it for the names of its errors, and a server on
SQLite would hold its 9 MB for nothing (performance.md, *idle*)."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType

_NAMES = ("psycopg", "psycopg.errors")


class _Late(ModuleType):
    """Becomes the module of its name, for good, when an attribute is read that is not a module to stand in for."""

    __path__: list[str] = []  # noqa: RUF012  # what makes a module a package

    def __getattr__(self, name: str) -> object:
        whole = f"{self.__name__}.{name}"
        if whole in _NAMES and sys.modules.get(self.__name__) is self:
            return sys.modules.setdefault(whole, _Late(whole))
        for late in _NAMES:
            if isinstance(sys.modules.get(late), _Late):
                del sys.modules[late]
        return getattr(importlib.import_module(self.__name__), name)


def import_late() -> None:
    """Let `import psycopg` and `from psycopg import errors` load nothing yet; where it is loaded or is not installed,
    nothing changes."""
    if "psycopg" not in sys.modules and importlib.util.find_spec("psycopg") is not None:
        sys.modules["psycopg"] = _Late("psycopg")
