"""Whether a `Cargo.toml` needs packages from a registry or a repository, read from its parsed content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_KEYS = ("dependencies", "dev-dependencies", "build-dependencies")


def packages_elsewhere(manifest: Mapping[str, object]) -> bool:
    """Whether it names a package that does not lie in the tree, by a `path`, or is the workspace's to say."""
    return any(_elsewhere(entry) for table in _tables(manifest) for entry in table.values())


def _tables(manifest: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    targets = _table(manifest.get("target")).values()
    for holder in (manifest, _table(manifest.get("workspace")), *map(_table, targets)):
        yield from (_table(holder.get(key)) for key in _KEYS)


def _elsewhere(entry: object) -> bool:
    return not isinstance(entry, Mapping) or not ("path" in entry or entry.get("workspace") is True)


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
