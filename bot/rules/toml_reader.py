"""Reads TOML that anybody may have written. Python's own reader takes time by the square of a dotted key's parts: 80 KB
that begin with `a.a.a.a` kept it busy for half a minute, and all repositories with it."""

from __future__ import annotations

import re
import tomllib
from typing import Any

_MAX_PARTS = 100
_NO_KEYS = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*(?:"""|\Z)'
    r"|'''(?:[^']|'(?!''))*(?:'''|\Z)"
    r'|"(?:[^"\\\n]|\\.)*"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+",
    re.DOTALL,
)
"""Strings and comments; one that does not end reaches to the end of the text, which is no TOML then."""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{_MAX_PARTS}}}")


def read_toml(text: str) -> dict[str, Any]:
    """The content of the text. Raises ValueError where it is broken or a key has more than a hundred parts, and
    RecursionError where its values are nested too deeply."""
    if _LONG_KEY.search(_NO_KEYS.sub("s", text)):
        raise ValueError(f"a key has more than {_MAX_PARTS} parts")
    return tomllib.loads(text)
