"""What is read of a project's manifests. They are anybody's (T33): a value of the wrong kind counts as missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _strings(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _texts(value: object) -> Mapping[str, str]:
    return {key: text for key, text in _mapping(value).items() if isinstance(text, str)}


def _packages(value: object) -> object:
    return value.get("packages") if isinstance(value, Mapping) else value


Text = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]
Strings = Annotated[tuple[str, ...], BeforeValidator(_strings)]
Table = Annotated[Mapping[str, object], BeforeValidator(_mapping)]
Texts = Annotated[Mapping[str, str], BeforeValidator(_texts)]


class _Manifest(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


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
    dev_engines: Annotated[_NodeManager, BeforeValidator(_mapping)] = Field(_NodeManager(), alias="devEngines")
    engines: Annotated[_Node, BeforeValidator(_mapping)] = _Node()
    volta: Annotated[_Node, BeforeValidator(_mapping)] = _Node()
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
