"""Requirements of Python packages, as manifests declare them and as people write them in files for pip, tox and nox.
They are read without running any of these."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from bot.rules.setup.manifests import Pyproject, strings

_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)[ \t]*(?:\[[\w., -]*\])?"
    r"[ \t]*\(?(?:(?:===|==|~=|!=|<=|>=|<|>)[ \t]*[\w.*+!-]+[ \t]*,?[ \t]*)*\)?[ \t]*(?:;[\w \t.'\"<>=!~()*+,-]+)?",
    re.ASCII,
)
"""A name with extras, versions and a marker (PEP 508), on one line: the next one could be an option in a file for pip.
An address or a path is none: pip would build what it finds."""
_ARCHIVE = re.compile(
    r"\.(?:whl|zip|tar|tgz|tbz|txz|tlz|tar\.(?:gz|bz2|xz|lz|lzma))[ \t]*(?:\[[^;]*)?(?:;|$)", re.IGNORECASE
)
"""The end of a name or version by which pip takes the whole for a file, where there is one of that name."""
_OWN = re.compile(r"(?:file://)?(?:\.|\{toxinidir\}|\{tox_root\})/?(?:\[(?P<extras>[\w., -]*)\])?")
_MAX_LENGTH = 300


@dataclass(frozen=True, slots=True)
class Asked:
    """What a file asks to be installed: `requirements` from the package index, `extras` and `groups` of the project
    itself, `files` with more and `constraints` files. `left_out` are addresses and paths, which need a build."""

    requirements: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def merged(parts: Iterable[Asked]) -> Asked:
    """All that the parts ask for, each thing once."""
    listed = list(parts)
    names = [field.name for field in fields(Asked)]
    return Asked(*(tuple(dict.fromkeys(one for part in listed for one in getattr(part, name))) for name in names))


def is_requirement(entry: str) -> bool:
    """Whether the entry names something in a package index, and nothing that pip would take for an option."""
    entry = entry.strip()
    return len(entry) <= _MAX_LENGTH and _REQUIREMENT.fullmatch(entry) is not None and _ARCHIVE.search(entry) is None


def name_of(requirement: str) -> str:
    """The name of a requirement, spelt the one way (PEP 503); "" where it is none."""
    found = _REQUIREMENT.match(requirement.strip())
    return normal(found["name"]) if found else ""


def asked_by_lines(text: str) -> Asked:
    """What a requirements file asks for, or tox's `deps`; hashes and options that choose an index are left to pip's own
    settings."""
    joined = re.sub(r"\\\r?\n", " ", text)
    lines = (re.sub(r"(?:^|\s)#.*", "", line).strip() for line in joined.splitlines())
    return merged(_asked_by_line(line) for line in lines if line)


def asked_by_words(words: Iterable[str]) -> Asked:
    """What the arguments of `pip install` ask for."""
    parts, waiting = [], ""
    for word in words:
        if waiting or word in ("-r", "--requirement", "-c", "--constraint", "-e", "--editable", "--group", "--extra"):
            parts += [_asked_by_option(waiting, word)] if waiting else []
            waiting = "" if waiting else word
        else:
            parts.append(_asked_by_line(word))
    return merged(parts)


def _asked_by_line(line: str) -> Asked:
    option = re.match(r"(-r|--requirement|-c|--constraint|-e|--editable|--group|--extra)[\s=]*(.+)", line)
    if option:
        return _asked_by_option(option[1], option[2].strip())
    if line.startswith("-"):
        return Asked()
    entry = re.sub(r"\s--hash[=\s].*", "", line).strip()
    own = _OWN.fullmatch(entry)
    if own:
        return Asked(extras=_extras(own["extras"]))
    return Asked(requirements=(entry,)) if is_requirement(entry) else Asked(left_out=(entry[:_MAX_LENGTH],))


def _asked_by_option(option: str, value: str) -> Asked:
    value = re.sub(r"^\{(?:toxinidir|tox_root)\}/", "", value.strip("\"'"))
    if option in ("-r", "--requirement"):
        return Asked(files=(value,))
    if option in ("-c", "--constraint"):
        return Asked(constraints=(value,))
    if option in ("--group", "--extra"):
        names = tuple(name for name in value.split(",") if name)
        return Asked(groups=names) if option == "--group" else Asked(extras=names)
    own = _OWN.fullmatch(value)
    return Asked(extras=_extras(own["extras"])) if own else Asked(left_out=(f"-e {value}"[:_MAX_LENGTH],))


def _extras(listed: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (listed or "").split(",") if name.strip())


def split_words(line: str) -> list[str]:
    """The words of a command line; none where its quotes do not end."""
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return []


_REQUIREMENTS = re.compile(r"(?:[\w.-]*[-_.])?requirements(?:[-_.][\w.-]*)?\.txt", re.IGNORECASE)


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
