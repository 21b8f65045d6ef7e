"""Poetry's own way to write which versions fit (`^1.2`, `~1.2`), as the requirements that pip reads."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PARTS = re.compile(r"\s*(\^|~=|~|===|==|!=|>=|<=|>|<|=)?\s*([0-9][\w.*+!-]*)\s*")


def poetry_requirement(name: str, wanted: object) -> str | None:
    """The requirement that `name = wanted` of a `tool.poetry` table stands for; None for a path, a repository or an
    address, which are no packages of an index."""
    if isinstance(wanted, list):
        found = [poetry_requirement(name, one) for one in wanted]
        return next((one for one in found if one is not None), None) if len(found) == 1 else name
    if isinstance(wanted, str):
        return f"{name}{version_specifiers(wanted) or ''}"
    if not isinstance(wanted, Mapping) or {"git", "path", "url", "file"} & set(wanted):
        return None
    version, extras, python = wanted.get("version"), wanted.get("extras"), wanted.get("python")
    text = name + (f"[{','.join(map(str, extras))}]" if isinstance(extras, list) and extras else "")
    text += (version_specifiers(version) or "") if isinstance(version, str) else ""
    markers = [str(wanted["markers"])] if isinstance(wanted.get("markers"), str) else []
    markers += _python_markers(python) if isinstance(python, str) else []
    return text + (f"; {' and '.join(f'({one})' for one in markers)}" if markers else "")


def version_specifiers(wanted: str) -> str | None:
    """`>=1.2,<2` for `^1.2`; "" for any version; None where it cannot be said so (as `^1 || ^2`)."""
    if wanted.strip() in ("", "*"):
        return ""
    said = []
    for part in wanted.split(","):
        found = _PARTS.fullmatch(part)
        if found is None:
            return None
        said.append(_specifier(found[1] or "", found[2]))
    return ",".join(said)


def _specifier(sign: str, version: str) -> str:
    if sign in ("^", "~"):
        numbers = [int(number) for number in re.findall(r"\d+", version.split("-")[0])[:3]]
        return f">={version},<{_next(numbers, caret=sign == '^')}"
    if sign in ("", "="):
        return f"=={version}"
    return f"{sign}{version}"


def _next(numbers: list[int], *, caret: bool) -> str:
    """The first version that no longer fits: `^` keeps the first number that is not 0, `~` the first two."""
    if caret:
        at = next((index for index, number in enumerate(numbers) if number), len(numbers) - 1)
    else:
        at = min(1, len(numbers) - 1)
    return ".".join(str(number) for number in (*numbers[:at], numbers[at] + 1))


def _python_markers(python: str) -> list[str]:
    said = version_specifiers(python)
    parts = re.findall(r"(===|~=|==|!=|>=|<=|>|<)([\d.]+)", said or "")
    return [f"python_version {sign} '{'.'.join(version.split('.')[:2])}'" for sign, version in parts]
