"""The shell commands that set a Node project up: its packages without any script, then the scripts without the network.
Pure: what a project's files hold comes in, commands come out."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from bot.rules.setup.manifests import PackageJson

LOCKS: Mapping[str, tuple[str, ...]] = {
    "npm": ("package-lock.json", "npm-shrinkwrap.json"),
    "pnpm": ("pnpm-lock.yaml",),
    "yarn": ("yarn.lock",),
    "bun": ("bun.lock", "bun.lockb"),
}


@dataclass(frozen=True, slots=True)
class NodeProject:
    """The facts for installing a project's packages: its manager, the lock file's name or "", the content of
    `package.json`, the text of pnpm's settings, whether Yarn is of the second line, and the words before Yarn's
    command."""

    manager: str
    lock: str
    package: PackageJson
    berry: bool = False
    settings: str = ""
    prefix: str = ""


_NPM = "--ignore-scripts --no-audit --no-fund"
_PNPM = "--ignore-scripts --ignore-pnpmfile"
# as root Yarn would keep its downloads in /tmp, which is memory
_YARN = '--ignore-scripts --non-interactive --ignore-engines --cache-folder "$HOME/.cache/yarn"'
_NO_GIT = "GIT_ALLOW_PROTOCOL=none"
"""Yarn runs the scripts of a package that it clones."""
_BUN = f"{_NO_GIT} bun --config=/dev/null install --ignore-scripts"
"""`bunfig.toml` can name a scanner, which is code of the project, and `.env` a program for git to call."""
_COMMANDS: Mapping[str, tuple[str, str]] = {
    "npm": (
        f"npm ci {_NPM} || npm install {_NPM} --no-save",
        f"npm install {_NPM} --no-package-lock",
    ),
    "pnpm": (
        f"pnpm install --frozen-lockfile {_PNPM} || pnpm install --no-lockfile {_PNPM}",
        f"pnpm install --no-lockfile {_PNPM}",
    ),
    "yarn": (
        f"{_NO_GIT} yarn install --frozen-lockfile {_YARN} || {_NO_GIT} yarn install --pure-lockfile {_YARN}",
        f"{_NO_GIT} yarn install --no-lockfile {_YARN}",
    ),
    "bun": (f"{_BUN} --frozen-lockfile", f"{_BUN} --no-save"),
}
_BERRY = "yarn install --immutable --mode=skip-build"


def locked(manager: str, files: Collection[str]) -> str:
    """The manager's own lock file among the files, or ""."""
    return next((name for name in LOCKS[manager] if name in files), "")


def install_command(project: NodeProject) -> str:
    """The command that installs packages by the lock file, and by the manifest where that is older.

    It runs no script of the project or of a package, and writes no lock file."""
    if project.berry:
        return f"{project.prefix}{_BERRY}"
    by_lock, free = _COMMANDS[project.manager]
    return by_lock if project.lock else free


_IDLE = frozenset({"fsevents", "core-js", "core-js-bundle", "core-js-pure", "es5-ext", "esbuild", "husky"})
"""Packages that work without their install scripts, on Linux."""
_BUILDS = re.compile(r"onlyBuiltDependencies|allowBuilds|dangerouslyAllowAllBuilds|^ {4}requiresBuild: true", re.M)


def rebuild_command(project: NodeProject, lock: str) -> str:
    """The command that runs the install scripts of packages, or "" where none has one that matters; `lock` is the lock
    file's text. pnpm runs only those that the project allows."""
    if project.manager == "pnpm":
        allowed = _BUILDS.search(json.dumps(project.package.pnpm, default=str) + project.settings + lock)
        return "pnpm rebuild" if allowed else ""
    if project.manager == "bun" or project.berry:
        return ""
    if project.manager == "npm" and project.lock and not _scripted(lock):
        return ""
    return "npm rebuild"


def _scripted(lock: str) -> bool:
    """Whether an npm lock file names a package for Linux with an install script; one of the first form does not."""
    try:
        packages = json.loads(lock).get("packages")
    except (ValueError, AttributeError, RecursionError):
        return True
    if not isinstance(packages, dict):
        return True
    return any(
        isinstance(entry, dict)
        and entry.get("hasInstallScript") is True
        and "linux" in (entry.get("os") or ["linux"])
        and place.rpartition("node_modules/")[2] not in _IDLE
        for place, entry in packages.items()
        if place
    )


_LIFECYCLE = ("preinstall", "install", "postinstall", "prepare")
"""What npm runs of a project's own scripts after it has installed, in its order (npm's documentation of `scripts`)."""
_FOR_GIT = re.compile(
    r"\b(?:husky|lefthook|simple-git-hooks|yorkie|ghooks|only-allow|is-ci|pre-commit|playwright install|"
    r"git config|git-hooks|npm-force-resolutions|check-engine|opencollective)\b"
)


def own_scripts(project: NodeProject) -> list[str]:
    """The project's own scripts that belong to its installation, without those that only install hooks for git."""
    scripts = project.package.scripts
    return [name for name in _LIFECYCLE if name in scripts and not _only_hooks(scripts[name])]


def _only_hooks(text: str) -> bool:
    parts = [part for part in re.split(r"&&|\|\||;", text) if part.strip() not in ("", "true", "exit 0")]
    return all(_FOR_GIT.search(part) or re.match(r"\s*echo\b", part) for part in parts)
