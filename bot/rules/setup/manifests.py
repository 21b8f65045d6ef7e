"""The fields that are read of a project's manifests. These are untrusted (T33): a value of the wrong type counts as
missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def strings(value: object) -> list[str]:
    """The texts in a list; none where it is no list."""
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def table(value: object) -> Mapping[str, object]:
    """The value where it is a table, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def _texts(value: object) -> Mapping[str, str]:
    return {key: text for key, text in table(value).items() if isinstance(text, str)}


def _tables(value: object) -> Mapping[str, object]:
    return {key: inner for key, inner in table(value).items() if isinstance(inner, Mapping)}


def _lists(value: object) -> Mapping[str, list[str]]:
    return {key: strings(inner) for key, inner in table(value).items()}


def _packages(value: object) -> object:
    return value.get("packages") if isinstance(value, Mapping) else value


Text = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]
Strings = Annotated[tuple[str, ...], BeforeValidator(strings)]
Table = Annotated[Mapping[str, object], BeforeValidator(table)]
Texts = Annotated[Mapping[str, str], BeforeValidator(_texts)]
Tables = Annotated[Mapping[str, Mapping[str, object]], BeforeValidator(_tables)]
Lists = Annotated[Mapping[str, tuple[str, ...]], BeforeValidator(_lists)]


class _Manifest(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    def has(self, *keys: str) -> bool:
        """Whether one of the keys is there; without keys, whether any is."""
        given = self.model_fields_set
        return not given.isdisjoint(keys) if keys else bool(given)


class _Node(_Manifest):
    node: Text = ""


class _NodeManager(_Manifest):
    package_manager: object = Field(None, alias="packageManager")


class PackageJson(_Manifest):
    """npm's `package.json`, with the fields of other package managers."""

    name: Text = ""
    scripts: Texts = {}
    dependencies: Table = {}
    dev_dependencies: Table = Field({}, alias="devDependencies")
    optional_dependencies: Table = Field({}, alias="optionalDependencies")
    workspaces: Annotated[Strings, BeforeValidator(_packages)] = ()
    package_manager: Text = Field("", alias="packageManager")
    dev_engines: Annotated[_NodeManager, BeforeValidator(table)] = Field(_NodeManager(), alias="devEngines")
    engines: Annotated[_Node, BeforeValidator(table)] = _Node()
    volta: Annotated[_Node, BeforeValidator(table)] = _Node()
    eslint: object = Field(None, alias="eslintConfig")
    pnpm: object = None
    main: object = None
    module: object = None
    types: object = None
    typings: object = None
    exports: object = None
    bin: object = None

    @property
    def installed(self) -> tuple[str, ...]:
        """The packages that it has installed."""
        return (*self.dependencies, *self.dev_dependencies, *self.optional_dependencies)

    @property
    def managers(self) -> Iterator[str]:
        """The package managers that it names, the one that decides first."""
        yield self.package_manager.strip().partition("@")[0]
        wanted = self.dev_engines.package_manager
        for one in wanted if isinstance(wanted, list) else [wanted]:
            if isinstance(one, Mapping):
                yield str(one.get("name"))

    @property
    def entry_points(self) -> tuple[object, ...]:
        """The files by which it is loaded, as they are written: text, or mappings of conditions."""
        return (self.main, self.module, self.types, self.typings, self.exports, self.bin)


class ProjectTable(_Manifest):
    """`project` of a `pyproject.toml` (PEP 621)."""

    name: Text = ""
    dependencies: Strings = ()
    optional_dependencies: Lists = Field({}, alias="optional-dependencies")
    dynamic: Strings = ()
    requires_python: Text = Field("", alias="requires-python")


class BuildSystem(_Manifest):
    """`build-system` of a `pyproject.toml` (PEP 518)."""

    requires: Strings = ()
    backend: Text = Field("", alias="build-backend")


class Poetry(_Manifest):
    """`tool.poetry`."""

    name: Text = ""
    dependencies: Table = {}
    dev_dependencies: Table = Field({}, alias="dev-dependencies")
    group: Tables = {}
    extras: Lists = {}
    package_mode: object = Field(True, alias="package-mode")

    @property
    def groups(self) -> Mapping[str, Mapping[str, object]]:
        """What each group has installed."""
        return {name: table(group.get("dependencies")) for name, group in self.group.items()}

    @property
    def all_dependencies(self) -> tuple[Mapping[str, object], ...]:
        """The tables of all that it has installed."""
        return (self.dependencies, self.dev_dependencies, *self.groups.values())


class Pdm(_Manifest):
    """`tool.pdm`."""

    dev_dependencies: Lists = Field({}, alias="dev-dependencies")


class Uv(_Manifest):
    """`tool.uv`."""

    dev_dependencies: Strings = Field((), alias="dev-dependencies")
    sources: Tables = {}
    workspace: Table | None = None


class Pyproject(_Manifest):
    """A `pyproject.toml`. `tool` has the tables of all tools, by their names."""

    project: Annotated[ProjectTable, BeforeValidator(table)] = ProjectTable()
    build_system: Annotated[BuildSystem, BeforeValidator(table)] = Field(BuildSystem(), alias="build-system")
    dependency_groups: Table = Field({}, alias="dependency-groups")
    tool: Tables = {}

    @cached_property
    def poetry(self) -> Poetry:
        return Poetry.model_validate(self.tool.get("poetry", {}))

    @cached_property
    def pdm(self) -> Pdm:
        return Pdm.model_validate(self.tool.get("pdm", {}))

    @cached_property
    def uv(self) -> Uv:
        return Uv.model_validate(self.tool.get("uv", {}))

    @property
    def names(self) -> tuple[str, ...]:
        """What the project is called."""
        return tuple(filter(None, (self.project.name, self.poetry.name)))


def packages_elsewhere(manifest: Mapping[str, object]) -> bool:
    """Whether a `Cargo.toml` names a package that has no `path` in the tree and does not come from the workspace."""
    return any(_is_elsewhere(entry) for listed in _cargo_tables(manifest) for entry in listed.values())


def _cargo_tables(manifest: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    targets = table(manifest.get("target")).values()
    for holder in (manifest, table(manifest.get("workspace")), *map(table, targets)):
        yield from (table(holder.get(key)) for key in ("dependencies", "dev-dependencies", "build-dependencies"))


def _is_elsewhere(entry: object) -> bool:
    return not ("path" in table(entry) or table(entry).get("workspace") is True)
