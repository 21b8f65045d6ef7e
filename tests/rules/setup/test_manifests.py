"""Manifests are anybody's: what is of the wrong kind counts as missing, and nothing that they hold raises."""

from __future__ import annotations

from typing import Any

import pytest

from bot.rules.setup.manifests import PackageJson, Pyproject, packages_elsewhere

WRONG: tuple[Any, ...] = (None, 5, True, "text", [], [5], ["a", 5], {}, {"a": 5}, {"a": {"b": [{}]}}, "\ud800")


@pytest.mark.parametrize("value", WRONG, ids=repr)
@pytest.mark.parametrize("model", [PackageJson, Pyproject], ids=lambda model: str(model.__name__))
def test_no_value_of_any_key_raises(model: type[PackageJson | Pyproject], value: Any) -> None:
    for name, field in model.model_fields.items():
        found = model.model_validate({field.alias or name: value})
        if isinstance(found, PackageJson):
            assert all(isinstance(one, str) for one in (*found.installed, *found.managers, *found.workspaces))
            assert all(isinstance(text, str) for text in found.scripts.values())
        else:
            assert isinstance(found.poetry.all_dependencies, tuple) and isinstance(found.names, tuple)


@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_no_table_of_a_tool_raises(value: Any) -> None:
    for tool in ("poetry", "pdm", "uv"):
        keys = ("name", "dependencies", "dev-dependencies", "group", "extras", "sources", "workspace")
        found = Pyproject.model_validate({"tool": {tool: dict.fromkeys(keys, value)}})
        assert all(isinstance(name, str) for name in found.names)
        assert all(isinstance(entry, str) for entry in found.uv.dev_dependencies)


def test_the_field_decides_before_the_engines() -> None:
    engines = {"packageManager": [{"name": "yarn"}, "bun"]}
    package = PackageJson.model_validate({"packageManager": " pnpm@9.1.0 ", "devEngines": engines})
    assert list(package.managers) == ["pnpm", "yarn"]


@pytest.mark.parametrize("workspaces", [["a", 5, "b"], {"packages": ["a", "b"]}])
def test_workspaces_are_a_list_or_stand_in_a_table(workspaces: Any) -> None:
    assert PackageJson.model_validate({"workspaces": workspaces}).workspaces == ("a", "b")


def test_unknown_keys_count_as_given() -> None:
    found = Pyproject.model_validate({"project": {"version": "1"}, "tool": {"poetry": {"plugins": {}}, "mypy": 5}})
    assert found.project.has() and not found.project.has("scripts") and not found.build_system.has()
    assert found.poetry.has("scripts", "plugins") and list(found.tool) == ["poetry"]


@pytest.mark.parametrize(
    ("entry", "elsewhere"),
    [("1.0", True), ({"version": "1"}, True), ({"path": "../a"}, False), ({"workspace": True}, False), (5, True)],
)
def test_a_crate_lies_in_the_tree_or_elsewhere(entry: Any, elsewhere: bool) -> None:
    for manifest in (
        {"dependencies": {"a": entry}},
        {"workspace": {"dependencies": {"a": entry}}},
        {"target": {"cfg(unix)": {"dev-dependencies": {"a": entry}}, "x": 5}},
    ):
        assert packages_elsewhere(manifest) is elsewhere
