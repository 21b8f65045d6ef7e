"""Which project's command is found in a repository of several, and where it runs (spec A, Commands)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from bot.config import CheckPolicy, ChecksPolicy
from bot.model import CheckName
from bot.reports.locale.reasons import english
from bot.workspace.detect.detect import NoCommand, detect
from bot.workspace.detect.monorepo import projects_above, projects_below, repository_top, top_and_focus
from bot.workspace.sandbox.sandbox import open_sandbox

NO_POLICY = ChecksPolicy()
TOOL = "#!/bin/sh\npwd > where\n"


def write(tree: Path, *names: str, **texts: str) -> Path:
    for name, text in [*((name, "") for name in names), *texts.items()]:
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if "bin/" in name:
            path.chmod(0o755)
    return tree


def package(manager: str | None = None, **scripts: str) -> str:
    return json.dumps({"scripts": scripts} | ({"packageManager": manager} if manager else {}))


def found(tree: Path, check: CheckName, *near: str) -> str:
    command = detect(tree, check, NO_POLICY, near)
    return "missing" if isinstance(command, NoCommand) else " ".join(command.run)


def test_the_nearest_project_with_a_command_wins_over_the_top(tmp_path: Path) -> None:
    write(tmp_path, **{"package.json": package(test="a", lint="b"), "packages/web/package.json": package(test="c")})
    write(tmp_path, "packages/web/src/x.ts")
    near = "packages/web/src/x.ts"
    assert found(tmp_path, "test", near) == "npm --prefix packages/web test"
    assert found(tmp_path, "lint", near) == "npm run lint"
    assert found(tmp_path, "test") == found(tmp_path, "test", "README.md") == "npm test"
    command = detect(tmp_path, "test", NO_POLICY, [near])
    assert not isinstance(command, NoCommand)
    assert command.directory == "packages/web"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, "npm --prefix packages/web run lint"),
        ({"pnpm-lock.yaml": ""}, "pnpm -C packages/web run lint"),
        ({"yarn.lock": ""}, "yarn --cwd packages/web run lint"),
        ({"bun.lock": ""}, "env -C packages/web bun run lint"),
        ({"package.json": package("yarn@4.1.0"), "pnpm-lock.yaml": ""}, "yarn --cwd packages/web run lint"),
        ({"packages/web/package-lock.json": "", "yarn.lock": ""}, "npm --prefix packages/web run lint"),
    ],
)
def test_the_package_manager_is_looked_for_upwards(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    write(tmp_path, **{"packages/web/package.json": package(lint="eslint src"), **files})
    assert found(tmp_path, "lint", "packages/web/a.ts") == expected


def test_a_field_of_the_package_itself_tells_the_manager_first(tmp_path: Path) -> None:
    write(tmp_path, **{"web/package.json": package("pnpm@9.0.0", test="a"), "package.json": package("npm@10.0.0")})
    assert found(tmp_path, "test", "web") == "pnpm -C web test"


def test_installed_tools_are_looked_for_upwards(tmp_path: Path) -> None:
    write(tmp_path, "a/b/tsconfig.json", "a/node_modules/.bin/eslint", "a/.eslintrc", "node_modules/.bin/tsc")
    write(tmp_path, **{"a/b/package.json": "{}"})
    assert found(tmp_path, "typecheck", "a/b") == "env -C a/b tsc --noEmit"  # the top's tools are on PATH
    assert found(tmp_path, "lint", "a/b") == "env -C a/b ../node_modules/.bin/eslint ."
    write(tmp_path, "a/b/node_modules/.bin/tsc")
    assert found(tmp_path, "typecheck", "a/b") == "env -C a/b node_modules/.bin/tsc --noEmit"


def test_what_a_project_asks_for_comes_before_a_guess_at_one_nearer(tmp_path: Path) -> None:
    write(tmp_path, "web/tsconfig.json", "node_modules/.bin/tsc", **{"web/package.json": "{}"})
    write(tmp_path, **{"package.json": package(typecheck="turbo typecheck"), "api/pyproject.toml": "[project]\n"})
    write(tmp_path, Makefile="lint:\n\ttrue\n")
    assert found(tmp_path, "typecheck", "web/x.ts") == "npm run typecheck"
    assert found(tmp_path, "lint", "api/x.py") == "make lint"


def test_other_kinds_of_project_go_to_their_directory_too(tmp_path: Path) -> None:
    write(tmp_path, "go/go.mod", "py/tests/test_a.py", "-d/Cargo.toml")
    write(tmp_path, **{"py/pyproject.toml": "[tool.mypy]\n", "m/Makefile": "test:\n"})
    write(tmp_path, "py/.venv/bin/python", "py/.venv/bin/mypy")
    assert found(tmp_path, "test", "go/x.go") == "env -C go go test ./..."
    assert found(tmp_path, "test", "py/x.py") == "env -C py .venv/bin/python -m pytest"
    assert found(tmp_path, "typecheck", "py/x.py") == "env -C py .venv/bin/mypy ."
    assert found(tmp_path, "test", "m/x") == "make -C m test"
    assert found(tmp_path, "test", "-d/x.rs") == "env -C ./-d cargo test"


def test_files_of_different_projects_mean_the_top_or_else_the_first(tmp_path: Path) -> None:
    write(tmp_path, **{f"{name}/package.json": package(test="a") for name in ("x", "y")})
    assert found(tmp_path, "test", "y/1.js", "x/2.js", "y/3.js") == "npm --prefix y test"
    write(tmp_path, **{"package.json": package(test="turbo test")})
    assert found(tmp_path, "test", "y/1.js", "x/2.js") == "npm test"
    assert found(tmp_path, "test", "y/1.js", "y/2.js") == "npm --prefix y test"


def test_a_tools_own_file_makes_no_project(tmp_path: Path) -> None:
    write(tmp_path, "tests/ruff.toml", "tests/test_a.py", **{"pyproject.toml": "[tool.ruff]\n"})
    assert found(tmp_path, "lint", "tests/test_a.py") == "ruff check --no-fix"


def test_the_repositorys_own_command_wins_and_runs_at_the_top(tmp_path: Path) -> None:
    write(tmp_path, **{"web/package.json": package(test="a")})
    policy = ChecksPolicy(test=CheckPolicy(command="make all", timeout=5, report="out/junit.xml"))
    command = detect(tmp_path, "test", policy, ["web/a.js"])
    assert not isinstance(command, NoCommand)
    assert (command.run, command.timeout_s, command.report, command.directory) == ("make all", 5, "out/junit.xml", "")


def test_the_only_project_below_a_top_without_any_is_taken(tmp_path: Path) -> None:
    write(tmp_path, "README.md", "docs/a.md", "node_modules/x/package.json", ".hidden/package.json")
    write(tmp_path, **{"services/core/app/package.json": package(test="a")})
    write(tmp_path, "services/core/app/functions/package.json")  # it belongs to the app
    assert projects_below(tmp_path) == ("services/core/app",)
    assert found(tmp_path, "test") == "npm --prefix services/core/app test"
    write(tmp_path, "a/b/c/d/package.json")
    assert projects_below(tmp_path) == ("services/core/app",)  # four levels down is too deep to mean the repository
    write(tmp_path, "package.json")
    assert found(tmp_path, "test") == "missing"


def test_several_projects_below_are_named_and_none_is_taken(tmp_path: Path) -> None:
    write(tmp_path, **{"api/go.mod": "", "web/package.json": package(test="a")})
    missing = detect(tmp_path, "test", NO_POLICY)
    assert isinstance(missing, NoCommand)
    assert any("api, web" in english(reason) for reason in missing.looked_for)


def test_what_was_looked_for_nearby_is_told_with_its_place(tmp_path: Path) -> None:
    write(tmp_path, **{"web/package.json": "{", "go.sum": ""})
    missing = detect(tmp_path, "test", NO_POLICY, ["web/a.js"])
    assert isinstance(missing, NoCommand)
    phrases = map(english, missing.looked_for)
    assert any("in web" in phrase and "package.json is broken" in phrase for phrase in phrases)
    assert len(set(missing.looked_for)) == len(missing.looked_for)


@pytest.mark.parametrize(
    "near",
    ["/etc/passwd", "../outside/x.js", "link/x.js", "gone/deep/x.js", "a\0b", "", ".", "x" * 5000, "web/../../o"],
)
def test_paths_that_lead_nowhere_mean_the_top(tmp_path: Path, near: str) -> None:
    """They come from the text of an issue, so from anybody."""
    write(tmp_path, **{"tree/package.json": package(test="a"), "outside/package.json": package(test="b")})
    (tmp_path / "tree" / "link").symlink_to(tmp_path / "outside")
    assert found(tmp_path / "tree", "test", near) == "npm test"
    assert projects_above(tmp_path / "tree", near) == ("",)


def test_a_directory_without_a_project_file_is_asked_last_but_before_the_top(tmp_path: Path) -> None:
    write(tmp_path, "a/test_one.py", "b/test_two.py")
    assert found(tmp_path, "test", "a") == "env -C a pytest -o pythonpath=."
    assert found(tmp_path, "test", "a/test_one.py") == "pytest -o pythonpath=."
    write(tmp_path, **{"pyproject.toml": "[tool.pytest.ini_options]\n"})
    assert found(tmp_path, "test", "a") == "pytest -o pythonpath=."


def test_the_top_is_the_nearest_directory_with_a_git_file_and_never_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "home/code/a/b/x", "home/repo/c/d/x", "home/.git", "home/repo/.git")
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    assert repository_top(home / "repo/c/d") == repository_top(home / "repo") == home / "repo"
    assert repository_top(home / "code/a/b") == home / "code/a/b"
    assert top_and_focus(home / "repo/c/d") == (home / "repo", ("c/d",))
    assert top_and_focus(home / "code/a") == (home / "code/a", ())


@pytest.mark.parametrize("mode", ["none", "auto"])
@pytest.mark.parametrize("manager", ["npm", "env", "make"])
async def test_the_command_runs_in_the_directory_of_its_project(tmp_path: Path, mode: str, manager: str) -> None:
    tree = tmp_path / "tree"
    make, tool = shutil.which("make"), "packages/web/node_modules/.bin/tsc"
    files = {
        "npm": {"packages/web/package.json": package(typecheck="pwd > where")},
        "env": {tool: TOOL, "packages/web/package.json": "{}", "packages/web/tsconfig.json": "{}"},
        "make": {"packages/web/Makefile": "typecheck:\n\tpwd > where\n"},
    }
    write(tree, "packages/web/x.ts", **files[manager])
    command = detect(tree, "typecheck", NO_POLICY, ["packages/web/x.ts"])
    assert not isinstance(command, NoCommand)
    assert command.run[0] == manager
    assert make is not None

    sandbox = await open_sandbox("auto" if mode == "auto" else "none", ())
    assert (await sandbox.run(command, tree)).exit_code == 0
    assert Path((tree / "packages/web/where").read_text().strip()) == Path(os.path.realpath(tree / "packages/web"))
