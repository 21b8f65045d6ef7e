"""Typed reading of somebody else's JSON: every access says what it wants, and what is not so is one sentence.
Names that reach file systems, databases or the API are checked here, once (threats.md 1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_FULL_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}/(?!\.{1,2}\Z)[A-Za-z0-9_.-]{1,100}")
_LOGIN = re.compile(r"[A-Za-z0-9_-]{1,100}(\[bot\])?")
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Reader:
    """A JSON object and where it stands in its payload. Every method raises ValueError with one sentence that names
    the member, for a member that is missing or of another kind."""

    value: Mapping[str, Any]
    where: str = ""

    def _path(self, key: str) -> str:
        return f"{self.where}.{key}" if self.where else key

    def _wrong(self, key: str, wanted: str) -> ValueError:
        what = "is missing" if self.value.get(key) is None else f"is not {wanted}"
        return ValueError(f"the payload's {self._path(key)} {what}")

    def has(self, key: str) -> bool:
        return self.value.get(key) is not None

    def child(self, key: str) -> Reader:
        found = self.value.get(key)
        if not isinstance(found, Mapping):
            raise self._wrong(key, "an object")
        return Reader(found, self._path(key))

    def child_or_none(self, key: str) -> Reader | None:
        return self.child(key) if self.has(key) else None

    def children(self, key: str) -> tuple[Reader, ...]:
        """The objects of a list; a missing list is an empty one."""
        found = self.value.get(key)
        if found is None:
            return ()
        if not isinstance(found, list) or not all(isinstance(item, Mapping) for item in found):
            raise self._wrong(key, "a list of objects")
        return tuple(Reader(item, f"{self._path(key)}[{index}]") for index, item in enumerate(found))

    def name(self, key: str) -> str:
        """A non-empty text without NUL and lone surrogates, which neither a database nor the API can take."""
        found = self.value.get(key)
        if not isinstance(found, str) or not found:
            raise self._wrong(key, "a text")
        if _UNSTORABLE.search(found):
            raise ValueError(f"the payload's {self._path(key)} contains a NUL or a broken character")
        return found

    def name_or_none(self, key: str) -> str | None:
        return self.name(key) if self.has(key) else None

    def login(self, key: str) -> str:
        """An account's name in GitHub's own alphabet; it becomes part of an address that is asked about permissions."""
        found = self.name(key)
        if not _LOGIN.fullmatch(found):
            raise ValueError(f"the payload's {self._path(key)} is not an account's name")
        return found

    def prose(self, key: str) -> str:
        """What a person wrote: null is empty, and what cannot be stored is shown as U+FFFD."""
        found = self.value.get(key)
        if found is None:
            return ""
        if not isinstance(found, str):
            raise self._wrong(key, "a text")
        return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", found)

    def texts(self, key: str) -> tuple[str, ...]:
        """The texts of a list; a missing list is an empty one."""
        found = self.value.get(key)
        return tuple(item for item in found if isinstance(item, str)) if isinstance(found, list) else ()

    def number(self, key: str) -> int:
        """A positive integer of at most 63 bits."""
        found = self.value.get(key)
        if not isinstance(found, int) or isinstance(found, bool) or not 0 < found <= _LARGEST:
            raise self._wrong(key, "a positive number")
        return found

    def flag(self, key: str) -> bool:
        """A missing flag is false."""
        found = self.value.get(key)
        if found is not None and not isinstance(found, bool):
            raise self._wrong(key, "true or false")
        return bool(found)

    def sha(self, key: str) -> str:
        found = self.name(key)
        if not _SHA.fullmatch(found):
            raise ValueError(f"the payload's {self._path(key)} is not a commit's full id")
        return found

    def full_name(self, key: str) -> str:
        """`owner/name` in GitHub's own alphabet; it becomes part of paths."""
        found = self.name(key)
        if not _FULL_NAME.fullmatch(found):
            raise ValueError(f"the payload's {self._path(key)} is not of the form owner/name")
        return found

    def moment(self, key: str) -> datetime | None:
        """An ISO 8601 time with its zone, None where there is none: order may then not be judged by it."""
        found = self.value.get(key)
        if not isinstance(found, str):
            return None
        try:
            moment = datetime.fromisoformat(found)
        except ValueError:
            return None
        return moment if moment.tzinfo is not None else None
