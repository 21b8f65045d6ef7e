"""What a project's files declare that must be installed before its code can run, read from their parsed content."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from bot.rules.setup.manifests import Pyproject, strings

_REQUIREMENTS = re.compile(r"(?:[\w.-]*[-_.])?requirements(?:[-_.][\w.-]*)?\.txt", re.IGNORECASE)
_NAME = re.compile(r"\s*([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)")


def is_requirements(name: str) -> bool:
    """Whether a file of that name, as `requirements-dev.txt`, lists what pip is to install."""
    return _REQUIREMENTS.fullmatch(name) is not None


def requirements(text: str) -> tuple[str, ...]:
    """The entries of a requirements file, without comments and options; one that names other files counts as itself."""
    lines = (re.sub(r"(?:^|\s)#.*", "", line).strip() for line in text.splitlines())
    return tuple(line for line in lines if line and (line[0] != "-" or line.startswith(("-r", "-e", "--editable"))))


def pyproject_requires(pyproject: Pyproject) -> tuple[str, ...]:
    """All requirements in a `pyproject.toml`: run time, extras, groups, and those of Poetry, PDM and uv.

    One that is computed when the project is built (`dynamic`) stands as `dynamic`."""
    project = pyproject.project
    lists: list[Iterable[str]] = [
        project.dependencies,
        *project.optional_dependencies.values(),
        pyproject.uv.dev_dependencies,
    ]
    # what merely includes another group is no requirement of its own
    lists += [*map(strings, pyproject.dependency_groups.values()), *pyproject.pdm.dev_dependencies.values()]
    found = [entry for listed in lists for entry in listed]
    found += ["dynamic"] if "dependencies" in project.dynamic else []
    found += [name for listed in pyproject.poetry.all_dependencies for name in listed if name.lower() != "python"]
    return tuple(found)


def ini_requires(sections: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    """The requirements in a `setup.cfg`."""
    options = sections.get("options", {})
    texts = [options.get("install_requires"), options.get("tests_require")]
    texts += sections.get("options.extras_require", {}).values()
    return tuple(line.strip() for text in texts for line in str(text or "").splitlines() if line.strip())


def normal(name: str) -> str:
    """A distribution's name, spelt the one way (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()
