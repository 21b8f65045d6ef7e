"""Finds the files, or the parts of a file, that configure checks: an edit there can make a failure pass without a
fix. A file that also serves other purposes (`pyproject.toml`, `package.json`) is read, so that only its part for
checks counts."""

from __future__ import annotations

import configparser
import json
import re
from collections.abc import Iterable, Mapping

from bot.rules.toml_reader import read_toml

_WHOLE = re.compile(
    r"\.?pytest\.ini|tox\.ini|\.?mypy\.ini|\.?ruff\.toml|\.flake8|\.?pylintrc(?:\.toml)?|pyrightconfig\.json|\.isort\.cfg"
    r"|\.pycodestyle|\.?coveragerc|noxfile\.py|\.bandit|basedpyright\.json|ty\.toml|pytest\.toml"
    r"|\.eslintrc(?:\.\w+)?|eslint\.config\.\w+|\.eslintignore|\.?oxlintrc\.json|biome\.jsonc?|\.stylelintrc(?:\.\w+)?"
    r"|\.prettierrc(?:\.\w+)?|prettier\.config\.\w+|\.prettierignore|tslint\.json|[tj]sconfig(?:\.[\w.-]+)?\.json"
    r"|(?:jest|vitest|playwright|cypress|karma|ava|wdio|nyc)(?:\.[\w-]+)*\.(?:config|conf|workspace)\.\w+|\.mocharc\.\w+"
    r"|jest\.config\.\w+|vitest\.(?:config|workspace)\.\w+|\.nycrc(?:\.\w+)?|deno\.jsonc?"
    r"|\.golangci\.\w+|\.?clippy\.toml|\.?rustfmt\.toml|\.rubocop(?:_todo)?\.yml|\.rspec|phpunit\.xml(?:\.dist)?"
    r"|phpstan\.neon(?:\.dist)?|psalm\.xml|checkstyle\.xml|detekt\.yml|\.editorconfig-checker\.json|nextest\.toml"
)
_TOOL_WORDS = """
pytest mypy ruff pyright basedpyright ty pylint flake8 black isort coverage tox nox bandit pydocstyle pycodestyle poe
taskipy
"""
_TOOLS = frozenset(_TOOL_WORDS.split())
_SCRIPT = re.compile(
    r"(?:pre|post)?(?:test|lint|type|tsc|check|validate|verify|ci|format|jest|vitest|eslint)\b|.*:test$"
)
_PACKAGE_WORDS = "jest vitest mocha ava nyc c8 xo standard eslintConfig eslintIgnore prettier stylelint tap"
_PACKAGE_TOOLS = frozenset(_PACKAGE_WORDS.split())
_AROUND = re.compile(r"script (?:pre|post)")
_TARGET = re.compile(
    r"^(?:test|check|lint|type-?check|types|mypy|ruff|pytest|tsc|ci|verify|vet|fmt-check)[\w-]*(?: [^:=\n]*)?:"
    r"(?!=).*(?:\n(?:[ \t]+.*|[ \t]*))*",
    re.MULTILINE,
)
_FOR_ALL = re.compile(r"^(\.IGNORE|(?:override )?(?:MAKEFLAGS|SHELL|\.SHELLFLAGS)(?= *[:+?]?=))[^\n]*", re.MULTILINE)
"""What make heeds in every target, such as to ignore all errors."""
_CFG = re.compile(
    r"tool:pytest|pytest|mypy.*|flake8.*|pylint.*|coverage:.*|isort|pycodestyle|pydocstyle|tox.*|testenv.*"
)


def is_config(path: str) -> bool:
    """Whether the file, or a part of it, decides what a check checks."""
    name = path.rpartition("/")[2]
    return bool(_WHOLE.fullmatch(name)) or name in _PARTLY


def settings(path: str, text: str | None) -> Mapping[str, object]:
    """The settings for checks in the text, by name, in a form that does not change with its layout; empty without a
    text.

    A text that cannot be parsed is one setting, named `unreadable`."""
    if text is None:
        return {}
    name = path.rpartition("/")[2]
    if name not in _PARTLY:
        return {name: "".join(text.split())}
    try:
        return _PARTLY[name](text)
    except (ValueError, configparser.Error, RecursionError):
        return {"unreadable": text}


def adds_harmless_settings(path: str, added: Iterable[str], *, new: bool) -> bool:
    """Whether the settings that a change adds to a file, by their names, weaken no check by themselves. A `pretest`
    does, as it runs within `test`, and so does a `GNUmakefile`, which make prefers."""
    if new and path.rpartition("/")[2] in ("GNUmakefile", "makefile"):
        return False
    return all(name.startswith(("script ", "target ")) and not _AROUND.match(name) for name in added)


def _pyproject(text: str) -> Mapping[str, object]:
    tool = _table(read_toml(text).get("tool"))
    # of what builds a project too, only the part that runs commands
    parts = {"hatch.envs": _table(tool.get("hatch")).get("envs"), "pdm.scripts": _table(tool.get("pdm")).get("scripts")}
    found = {name: tool[name] for name in sorted(_TOOLS & tool.keys())} | parts
    return {f"[tool.{name}]": value for name, value in found.items() if value is not None}


def _cargo(text: str) -> Mapping[str, object]:
    document = read_toml(text)
    found = {"[lints]": document.get("lints"), "[workspace.lints]": _table(document.get("workspace")).get("lints")}
    for kind in ("lib", "test", "bin"):
        targets = document.get(kind, [])
        for target in map(_table, targets if isinstance(targets, list) else [targets]):
            if target.get("test") is False or target.get("doctest") is False or "harness" in target:
                found[f"[{kind}] {target.get('name', '')}".strip()] = target
    return {name: value for name, value in found.items() if value is not None}


def _package(text: str) -> Mapping[str, object]:
    document = _table(json.loads(text))
    scripts = {name: run for name, run in _table(document.get("scripts")).items() if _SCRIPT.match(name)}
    tools = {name: document[name] for name in sorted(_PACKAGE_TOOLS & document.keys())}
    return {**{f"script {name}": run for name, run in scripts.items()}, **tools}


def _setup_cfg(text: str) -> Mapping[str, object]:
    parser = configparser.RawConfigParser(strict=False)
    parser.read_string(text)
    return {f"[{name}]": dict(parser[name]) for name in parser.sections() if _CFG.fullmatch(name)}


def _recipes(text: str) -> Mapping[str, object]:
    found = (match[0] for match in _TARGET.finditer(text))
    every = {f"make {match[1]}": " ".join(match[0].split()) for match in _FOR_ALL.finditer(text)}
    return every | {f"target {recipe.split(':')[0].split()[0]}": " ".join(recipe.split()) for recipe in found}


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


_PARTLY = {
    "pyproject.toml": _pyproject,
    "Cargo.toml": _cargo,
    "package.json": _package,
    "setup.cfg": _setup_cfg,
    **dict.fromkeys(("Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", ".justfile"), _recipes),
}
