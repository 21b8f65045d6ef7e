"""Finds the programs that a command calls and a machine may lack, their version as the project pins it, and the
program that a failed command did not find."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from bot.model.setups import WantedProgram
from bot.rules.setup.manifests import PackageJson

NODE_MANAGERS = ("npm", "pnpm", "yarn", "bun")

KNOWN: Mapping[str, str] = MappingProxyType(
    {
        "bun": "1.4.5",
        "hatch": "1.18.2",
        "just": "1.59.0",
        "nox": "2026.10.20",
        "pdm": "2.29.4",
        "pipenv": "2026.10.3",
        "pnpm": "10.34.9",
        "poetry": "2.5.1",
        "tox": "4.67.15",
        "uv": "0.13.9",
        "yarn": "1.22.22",
    }
)
"""The programs that Mendbot can fetch, with the version that a project gets which pins none."""

_BY_MAJOR: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "pnpm": {"7": "7.33.7", "8": "8.15.9", "9": "9.15.9", "10": "10.34.9", "11": "11.28.11", "12": "12.21.0"},
        "yarn": {"1": "1.22.22", "2": "2.4.2", "3": "3.8.7", "4": "4.18.1"},
        "bun": {"1": "1.4.5"},
    }
)
_PNPM_BY_LOCK: Mapping[str, str] = MappingProxyType({"5": "7.33.7", "6": "8.15.9", "9": "10.34.9"})
"""The pnpm that reads a lock file, by the major of its `lockfileVersion`."""
_YARN_BY_LOCK: Mapping[int, str] = MappingProxyType({4: "2.4.2", 5: "3.1.1", 6: "3.8.7", 7: "3.8.7", 8: "4.9.4"})
"""The Yarn that writes a lock file of that version; the next one would rewrite it."""

_EXACT = re.compile(r"\d{1,9}\.\d{1,9}\.\d{1,9}(?:-[0-9A-Za-z.-]{1,60})?")
_NAMED = re.compile(r"(?P<name>[a-z]+)@(?P<version>[^+\s]+)(?:\+(?P<digest>[a-z0-9]+\.[0-9a-fA-F]+))?")
_DIGEST = re.compile(r"sha(?:1|224|256|384|512)\.[0-9a-fA-F]{40,128}")
_LOCK_VERSION = re.compile(r"^lockfileVersion:\s*['\"]?(\d+)", re.MULTILINE)


def exact_version(text: str) -> str:
    """The text where it is one exact version (semver), else "": a range or a tag pins nothing."""
    return text if _EXACT.fullmatch(text) else ""


def wanted_manager(manager: str, package: PackageJson, lock: str = "", release: str = "") -> WantedProgram:
    """The manager as `package.json` pins it; else the version that reads a lock file, whose first lines are `lock`.

    What is named without an exact version has the known one of that major. `release` is Yarn's `yarnPath`."""
    match = _NAMED.fullmatch(package.package_manager.strip())
    if match is not None and match["name"] == manager:
        digest = match["digest"] or ""
        exact = exact_version(match["version"])
        if exact:
            checked = manager != "bun" and _DIGEST.fullmatch(digest) is not None
            return WantedProgram(name=manager, version=exact, digest=digest if checked else "")
        major = match["version"].lstrip("^~=v").partition(".")[0]
        return WantedProgram(name=manager, version=newest(manager, major))
    return WantedProgram(name=manager, version=_by_lock(manager, lock, release))


def _by_lock(manager: str, lock: str, release: str) -> str:
    if manager == "yarn":
        released = re.search(r"/yarn-(\d[\w.-]*?)\.c?js$", release)
        if released and exact_version(released[1]):
            return released[1]
        found = re.search(r"^__metadata:\s+version:\s*['\"]?(\d+)", lock, re.MULTILINE)
        return "" if found is None else _YARN_BY_LOCK.get(int(found[1]), _BY_MAJOR["yarn"]["4"])
    found = _LOCK_VERSION.search(lock) if manager == "pnpm" else None
    return _PNPM_BY_LOCK.get(found[1], "") if found else ""


def newest(manager: str, major: str) -> str:
    """The known version of a manager's major, "" where there is none."""
    return _BY_MAJOR.get(manager, {}).get(major, "")


def pinned(program: WantedProgram) -> str:
    """The version to fetch: what the project pins, else the known one."""
    return program.version or KNOWN[program.name]


def is_berry(program: WantedProgram) -> bool:
    """Whether it is of Yarn's second line, which has other options and settings than the first."""
    return program.name == "yarn" and not pinned(program).startswith(("0.", "1."))


_AT_COMMAND = r"(?:^|&&|\|\||[;|(])[ \t]*[@+-]*(?:exec |env )?(?:[A-Z_]+=\S* )*"


def called_in(recipe: str) -> tuple[str, ...]:
    """Those of the known programs that the lines of a shell recipe call, each once and sorted."""
    called = re.findall(rf"{_AT_COMMAND}([a-z]+)\b(?![.=/-])", recipe, re.MULTILINE)
    return tuple(sorted(set(called) & set(KNOWN)))


_PYTHON = re.compile(r"(?<![\w.-])(?:python[\d.]*|mypy|pytest|ruff)(?![\w-])")
_NOT_FOUND = re.compile(
    r"(?:^|[ :'\u2018])(?P<name>[\w.+-]+)['\u2019]?:(?: command)? (?:not found|No such file or directory)", re.M
)


def uses_python(command: str) -> bool:
    """Whether the words of a command name Python or one of the tools that Mendbot brings."""
    return _PYTHON.search(command) is not None


def program(argv: Sequence[str]) -> str:
    """The program that an argv starts, behind `env -C DIRECTORY`, which the detection writes."""
    return argv[3] if tuple(argv[:2]) == ("env", "-C") and len(argv) > 3 else argv[0]


def lacking(argv: Sequence[str], output: str, tools: Collection[str]) -> str | None:
    """The tool that was missing where a command could not start or ended with 127; `output` is its last output."""
    if argv[0] in tools:
        return argv[0]
    if argv[0] not in ("env", "sh"):
        return None
    found = [match["name"] for match in _NOT_FOUND.finditer(output)]
    wanted = [program(argv)] if argv[0] == "env" else found
    return next((name for name in found if name in tools and name in wanted), None)
