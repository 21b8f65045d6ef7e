"""What a project's files declare that must be installed before its code can run, read from their parsed content."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = [
    "ini_requires",
    "is_requirements",
    "normal",
    "pipfile_requires",
    "pyproject_requires",
    "requirements",
]

_REQUIREMENTS = re.compile(r"(?:[\w.-]*[-_.])?requirements(?:[-_.][\w.-]*)?\.txt", re.IGNORECASE)
_NAME = re.compile(r"\s*([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)")


def is_requirements(name: str) -> bool:
    """Whether a file of that name, as `requirements-dev.txt`, lists what pip is to install."""
    return _REQUIREMENTS.fullmatch(name) is not None


def requirements(text: str) -> tuple[str, ...]:
    """The entries of a requirements file, without comments and options; one that names other files counts as itself."""
    lines = (re.sub(r"(?:^|\s)#.*", "", line).strip() for line in text.splitlines())
    return tuple(line for line in lines if line and (line[0] != "-" or line.startswith(("-r", "-e", "--editable"))))


def pyproject_requires(data: Mapping[str, Any]) -> tuple[str, ...]:
    """All requirements in a `pyproject.toml`: run time, extras, groups, and those of Poetry, PDM and uv.

    One that is computed when the project is built (`dynamic`) stands as `dynamic`."""
    project, tool = _table(data.get("project")), _table(data.get("tool"))
    poetry = _table(tool.get("poetry"))
    found = [*_strings(project.get("dependencies")), *_lists(project.get("optional-dependencies"))]
    found += ["dynamic"] if "dependencies" in _strings(project.get("dynamic")) else []
    found += _lists(data.get("dependency-groups"))
    found += [*_lists(_table(tool.get("pdm")).get("dev-dependencies"))]
    found += _strings(_table(tool.get("uv")).get("dev-dependencies"))
    groups = (_table(group).get("dependencies") for group in _table(poetry.get("group")).values())
    for table in (poetry.get("dependencies"), poetry.get("dev-dependencies"), *groups):
        found += [name for name in _table(table) if name.lower() != "python"]
    return tuple(found)


def pipfile_requires(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The packages of a `Pipfile`."""
    return tuple(name for key in ("packages", "dev-packages") for name in _table(data.get(key)))


def ini_requires(sections: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """The requirements in a `setup.cfg`."""
    options = sections.get("options", {})
    texts = [options.get("install_requires"), options.get("tests_require")]
    texts += sections.get("options.extras_require", {}).values()
    return tuple(line.strip() for text in texts for line in str(text or "").splitlines() if line.strip())


def normal(name: str) -> str:
    """A distribution's name, spelt the one way (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _strings(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _lists(value: object) -> Iterator[str]:
    """The requirements of all groups in a table; what merely includes another group is none of its own."""
    for group in _table(value).values():
        yield from _strings(group)
