"""Which command is found for a check in real trees of files (spec A, Commands)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bot.config import CheckPolicy, ChecksPolicy
from bot.model import CheckName
from bot.reports.locale.reasons import english
from bot.workspace.detect.detect import NoCommand, ShellCommand, detect
from bot.workspace.detect.target_finders import SCRIPTS

NO_POLICY = ChecksPolicy()


def write(tree: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
        if "/bin/" in name or "/.bin/" in name:
            (tree / name).chmod(0o755)
    return tree


def package(**scripts: str) -> str:
    return json.dumps({"name": "sample", "scripts": {name.replace("_", "-"): text for name, text in scripts.items()}})


def argv(tree: Path, check: CheckName, *, ruff: bool = True) -> str:
    found = detect(tree, check, NO_POLICY, unasked=lambda tool: ruff and tool == "ruff")
    return " ".join(found.run) if not isinstance(found, NoCommand) else "missing"


def test_the_own_command_wins_over_detection(tmp_path: Path) -> None:
    write(tmp_path, {"package.json": package(test="jest")})
    found = detect(tmp_path, "test", ChecksPolicy(test=CheckPolicy(command="make fast && echo ok", timeout=7)))
    assert not isinstance(found, NoCommand)
    assert (found.run, found.timeout_s, found.argv) == ("make fast && echo ok", 7, ("sh", "-c", "make fast && echo ok"))


def test_an_own_timeout_holds_for_a_detected_command(tmp_path: Path) -> None:
    write(tmp_path, {"package.json": package(test="jest")})
    found = detect(tmp_path, "test", ChecksPolicy(test=CheckPolicy(timeout=9)))
    assert not isinstance(found, NoCommand)
    assert (found.run, found.timeout_s) == (("npm", "test"), 9)


@pytest.mark.parametrize(("check", "seconds"), [("typecheck", 60), ("lint", 120), ("test", 300)])
def test_the_time_limits_are_those_of_the_specification(tmp_path: Path, check: CheckName, seconds: float) -> None:
    write(tmp_path, {"package.json": package(test="a", typecheck="b", lint="c")})
    found = detect(tmp_path, check, NO_POLICY)
    assert not isinstance(found, NoCommand)
    assert found.timeout_s == seconds


@pytest.mark.parametrize(
    ("files", "manager"),
    [
        ({}, "npm"),
        ({"package-lock.json": "{}"}, "npm"),
        ({"pnpm-lock.yaml": ""}, "pnpm"),
        ({"yarn.lock": ""}, "yarn"),
        ({"bun.lock": ""}, "bun"),
        ({"bun.lockb": "\0"}, "bun"),
    ],
)
def test_the_lock_file_tells_the_package_manager(tmp_path: Path, files: dict[str, str], manager: str) -> None:
    write(tmp_path, {"package.json": package(lint="eslint src"), **files})
    assert argv(tmp_path, "lint") == f"{manager} run lint"


def test_the_field_tells_the_package_manager_before_the_lock_file(tmp_path: Path) -> None:
    fields = {"packageManager": "pnpm@9.1.0+sha512.abc", "scripts": {"test": "vitest run"}}
    write(tmp_path, {"package.json": json.dumps(fields), "yarn.lock": ""})
    assert argv(tmp_path, "test") == "pnpm test"


def test_bun_runs_the_script_and_not_its_own_test_runner(tmp_path: Path) -> None:
    write(tmp_path, {"package.json": package(test="vitest run"), "bun.lock": ""})
    assert argv(tmp_path, "test") == "bun run test"


def test_script_names_are_tried_in_order(tmp_path: Path) -> None:
    for name in SCRIPTS["typecheck"]:
        write(tmp_path, {"package.json": json.dumps({"scripts": {name: "tsc"}})})
        assert argv(tmp_path, "typecheck") == f"npm run {name}"
    scripts = {"check-types": "3", "typecheck": "2", "type-check": "1"}
    write(tmp_path, {"package.json": json.dumps({"scripts": scripts})})
    assert argv(tmp_path, "typecheck") == "npm run type-check"


def test_npms_own_placeholder_is_no_test(tmp_path: Path) -> None:
    write(tmp_path, {"package.json": package(test='echo "Error: no test specified" && exit 1')})
    assert argv(tmp_path, "test") == "missing"


def test_without_scripts_installed_tools_are_run(tmp_path: Path) -> None:
    tools = {"node_modules/.bin/tsc": "#!/bin/sh\n", "node_modules/.bin/eslint": "#!/bin/sh\n"}
    write(tmp_path, {"package.json": "{}", "tsconfig.json": "{}", **tools})
    assert argv(tmp_path, "typecheck") == "tsc --noEmit"
    assert argv(tmp_path, "lint") == "missing", "without a configuration eslint ends with an error"
    write(tmp_path, {"eslint.config.mjs": ""})
    assert argv(tmp_path, "lint") == "eslint ."
    (tmp_path / "eslint.config.mjs").unlink()
    write(tmp_path, {"package.json": '{"eslintConfig": {}}'})
    assert argv(tmp_path, "lint") == "eslint ."


@pytest.mark.parametrize(
    "files",
    [
        {"tests/test_a.py": ""},
        {"pkg/deep/a_test.py": ""},
        {"pytest.ini": "[pytest]\n"},
        {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-q'\n"},
        {"setup.cfg": "[tool:pytest]\n"},
        {"conftest.py": ""},
    ],
)
def test_pytest_is_found_by_its_configuration_or_its_tests(tmp_path: Path, files: dict[str, str]) -> None:
    assert argv(write(tmp_path, files), "test").startswith("pytest")


@pytest.mark.parametrize(
    ("more", "found"),
    [({}, "pytest"), ({"Makefile": "test:\n\t./run\n"}, "make"), ({"justfile": "test:\n  ./run\n"}, "just"),
     ({"Makefile": "test:\n\t./run\n", "pytest.ini": "[pytest]\n"}, "pytest"), ({"Makefile": "build:\n"}, "pytest")],
)  # fmt: skip
def test_what_somebody_wrote_down_goes_before_the_name_of_a_file(
    tmp_path: Path, more: dict[str, str], found: str
) -> None:
    write(tmp_path, {"test_all.py": "print('a plain script')\n", **more})
    command = detect(tmp_path, "test", ChecksPolicy())
    assert isinstance(command, ShellCommand) and command.run[0] == found


def test_pytest_of_the_trees_own_environment_is_run_by_its_python(tmp_path: Path) -> None:
    write(tmp_path, {"tests/test_a.py": "", ".venv/bin/python": "#!/bin/sh\n"})
    assert argv(tmp_path, "test") == "python -m pytest"


def test_a_configured_import_path_is_let_be(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['src']\n"})
    assert argv(tmp_path, "test") == "pytest"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"mypy.ini": "[mypy]\nfiles = src\n"}, "mypy"),
        ({"pyproject.toml": "[tool.mypy]\nstrict = true\n"}, "mypy ."),
        ({"setup.cfg": "[mypy]\n"}, "mypy ."),
        ({"pyrightconfig.json": "{}"}, "pyright"),
        ({"pyproject.toml": "[tool.pyright]\n"}, "pyright"),
        ({"ty.toml": ""}, "ty check"),
        ({"pyproject.toml": "[project]\nname = 'a'\n"}, "missing"),
    ],
)
def test_the_type_checker_is_the_configured_one(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    assert argv(write(tmp_path, files), "typecheck") == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"ruff.toml": ""}, "ruff check --no-fix"),
        ({"pyproject.toml": "[tool.ruff]\n"}, "ruff check --no-fix"),
        ({"pyproject.toml": "[project]\nname = 'a'\n"}, "ruff check --no-fix --select E4,E7,E9,F"),
        ({"setup.cfg": "[flake8]\nmax-line-length = 99\n"}, "missing"),
        ({"scripts/one.py": ""}, "missing"),
    ],
)
def test_ruff_lints_a_python_project_that_chose_nothing_else(
    tmp_path: Path, files: dict[str, str], expected: str
) -> None:
    assert argv(write(tmp_path, files), "lint") == expected
    chosen = expected if expected == "ruff check --no-fix" else "missing"
    assert argv(tmp_path, "lint", ruff=False) == chosen, "a guess at a program that is not there"


MAKEFILE = "all: lint\ntypecheck lint:\n\ttrue\ntest: all\n\ttrue\n"
JUSTFILE = "set shell := ['sh']\n@lint *args:\n  true\ntest: lint\n"
TOX = "[testenv]\ncommands = pytest\n[testenv:lint]\n[testenv:types]\n"
NOX = "@nox.session\ndef tests(session): ...\n@nox.session(name='lint')\ndef check_style(session): ...\n"
NOX_LONG = "@session(\n    python=['3.11', '3.12'],\n    tags=list('ab'),\n)\n@other\ndef typing(session): ...\n"


@pytest.mark.parametrize(
    ("file", "text", "commands"),
    [
        ("go.mod", "module a\n", ["go build -o /dev/null ./...", "go vet ./...", "go test ./..."]),
        ("Cargo.toml", "[package]\n", ["cargo check --all-targets", "cargo clippy", "cargo test"]),
        ("Makefile", MAKEFILE, ["make typecheck", "make lint", "make test"]),
        ("Makefile", "test := 1\n.PHONY: test\nlint-all:\n", ["missing", "missing", "missing"]),
        ("justfile", JUSTFILE, ["missing", "just lint", "just test"]),
        ("tox.ini", TOX, ["tox run -e types", "tox run -e lint", "tox run"]),
        ("noxfile.py", NOX, ["missing", "nox -s lint", "nox -s tests"]),
        ("noxfile.py", NOX_LONG, ["nox -s typing", "missing", "missing"]),
    ],
)
def test_other_kinds_of_project(tmp_path: Path, file: str, text: str, commands: list[str]) -> None:
    write(tmp_path, {file: text})
    assert [argv(tmp_path, check) for check in ("typecheck", "lint", "test")] == commands


def test_a_target_comes_before_a_linter_nobody_asked_for(tmp_path: Path) -> None:
    write(tmp_path, {"pyproject.toml": "[project]\nname = 'a'\n", "Makefile": "lint:\n\ttrue\n"})
    assert argv(tmp_path, "lint") == "make lint"


def test_what_was_looked_for_is_told(tmp_path: Path) -> None:
    found = detect(tmp_path, "test", NO_POLICY)
    assert isinstance(found, NoCommand)
    told = "; ".join(map(english, found.looked_for))
    for place in (
        "checks.test.command",
        "mendbot.yml",
        "package.json",
        "pytest",
        "go.mod",
        "Cargo.toml",
        "Makefile",
        "tox.ini",
    ):
        assert place in told
    assert len(set(found.looked_for)) == len(found.looked_for)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("package.json", '{"scripts": {"test": '),
        ("package.json", "[]"),
        ("package.json", "[" * 100_000),
        ("pyproject.toml", "[tool.ruff\n"),
        ("setup.cfg", "no section here\n"),
        ("package.json", " " * 1_000_001),
    ],
)
def test_a_broken_file_is_told_and_not_raised(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    found = detect(tmp_path, "test", NO_POLICY)
    assert isinstance(found, NoCommand)
    assert any(
        phrase.startswith(name) and ("broken" in phrase or "too large" in phrase)
        for phrase in map(english, found.looked_for)
    )


@pytest.mark.parametrize(
    "package_json", ['{"scripts": []}', '{"scripts": {"test": 3}}', '{"packageManager": 3, "scripts": {"test": ""}}']
)
def test_fields_of_the_wrong_kind_are_no_scripts(tmp_path: Path, package_json: str) -> None:
    (tmp_path / "package.json").write_text(package_json)
    assert argv(tmp_path, "test") == "missing"


def test_a_broken_file_does_not_hide_another_project(tmp_path: Path) -> None:
    write(tmp_path, {"package.json": "{", "go.mod": "module a\n"})
    assert argv(tmp_path, "test") == "go test ./..."


def test_links_and_pipes_are_not_read(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"package.json": package(test="jest")})
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "package.json").symlink_to(outside / "package.json")
    os.mkfifo(tree / "pyproject.toml")
    found = detect(tree, "test", NO_POLICY)
    assert isinstance(found, NoCommand)
    assert {phrase.split()[0] for phrase in map(english, found.looked_for)} >= {"package.json", "pyproject.toml"}
