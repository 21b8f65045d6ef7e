"""The rows of resolved errors. `error_kb` has a row for each error with its latest resolution.

`error_elsewhere` has the earlier resolutions of other repositories, each with its own figures. Which repository sees
which of them is decided in `store.history.visibility`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from pydantic import ValidationError

from bot.model import Model, Resolution
from bot.reports.format.redact import Redactor
from bot.reports.format.truncate import strip_control
from bot.rules.failures.normalize import loose_key, normalize_error
from bot.rules.history.drain import position
from bot.store.database.sql import MAX_NAME, insert, repo_key, sound
from bot.store.database.tables import error_elsewhere, error_files, error_kb

MAX_PATCH = 200_000
"""The maximal number of characters of a stored patch; of a longer one, only the hash is stored."""
FIGURES = ("use_count", "shown", "passed")
"""The columns with the counts of a resolution."""
MAX_RAW = 4_000
MAX_HOW = 4_000
_MAX_STEPS = 100

_FIELDS = {field.alias or name: name for name, field in Resolution.model_fields.items()}


def masked(resolution: Resolution, redactor: Redactor) -> Resolution:
    """The resolution without secrets and control characters. A patch with a secret is omitted, since masking would make
    it another patch."""

    def safe(value: Any) -> Any:
        if isinstance(value, str):
            return redactor.mask(strip_control(value))
        return tuple(safe(item) for item in value) if isinstance(value, tuple) else value

    changed = {name: safe(value) for name, value in resolution if name != "patch"}
    patch = resolution.patch
    return Resolution(**changed, patch=patch if patch is None or redactor.mask(patch) == patch else None)


class ResolvedError(Model):
    """A resolved error within the limits of its row: the normalised text, the printed text, the resolution, and the
    time of its last use."""

    text: str
    raw: str
    resolution: Resolution
    last_used: str

    @property
    def repo(self) -> str | None:
        """The key of the resolution's repository."""
        return repo_key(self.resolution.repo)

    def row(self) -> dict[str, Any]:
        """The row of `error_kb`, without the figures."""
        return {
            "ts": self.last_used,
            "error_normalized": self.text,
            "error_raw": self.raw,
            "resolution": self.stored_resolution(),
            "resolved_by": self.resolution.resolved_by or None,
            "tool_sequence": list(self.resolution.tool_sequence),
            "last_used": self.last_used,
            "loose_key": loose_key(self.text),
            "repo": self.repo,
            "leaf": position(self.text).leaf,
        }

    def stored_resolution(self) -> object:
        """The resolution in the form in which it is stored."""
        return _as_stored(self.resolution)


def resolved_error(error: str, resolution: Resolution, last_used: str, raw: str = "") -> ResolvedError:
    """The resolved error; `raw` is the printed text, if `error` is not. Raises ValueError for an error without text."""
    text = sound(normalize_error(error))
    if not text:
        raise ValueError("the error has no text: give the message that the check or the tool printed")
    shown = sound((raw or error)[:MAX_RAW])
    return ResolvedError(text=text, raw=shown, resolution=_within_limits(resolution), last_used=last_used)


def put(connection: sa.Connection, error: ResolvedError, names: Iterable[str]) -> int:
    """Insert the error's row, or replace the row of the same error, and index its files; returns its id.

    The same attempt of the same run counts once, since a run may repeat it after a crash."""
    kb_id, stored = _claim(connection, error, {})
    if stored is None:
        index_files(connection, kb_id, names, error.last_used)
        return kb_id
    own = _own(connection, stored, error.repo)
    if own is not None and _is_repeat(own, error.resolution):
        return kb_id
    figures = {"use_count": own.use_count + 1 if own is not None else 1, "shown": 0, "passed": 0}
    _replace(connection, stored, error, figures)
    index_files(connection, kb_id, names, error.last_used)
    return kb_id


def merge(connection: sa.Connection, error: ResolvedError, names: Iterable[str], figures: Mapping[str, int]) -> None:
    """Import an error with its figures (`use_count`, `shown`, `passed`) from another history.

    Of two resolutions of one repository, the later is stored, with the higher use count. The error's row in `error_kb`
    gets the latest resolution of all."""
    kb_id, stored = _claim(connection, error, figures)
    if stored is None:
        index_files(connection, kb_id, names, error.last_used)
        return
    own = _own(connection, stored, error.repo)
    use_count = max(figures["use_count"], own.use_count if own is not None else 1)
    if own is not None and own.resolution is not None and (own.last_used or "") >= error.last_used:
        table, same = place_of(kb_id, stored.repo, error.repo)
        connection.execute(sa.update(table).where(*same).values(use_count=use_count))
        return
    figures = {**figures, "use_count": use_count}
    if stored.resolution is None or (stored.last_used or "") < error.last_used:
        _replace(connection, stored, error, figures)
        index_files(connection, kb_id, names, error.last_used)
    else:
        _put_elsewhere(connection, kb_id, error, figures)
        _add_names(connection, kb_id, names, stored.last_used or error.last_used)


def place_of(kb_id: int, row_repo: str | None, key: str | None) -> tuple[sa.Table, tuple[sa.ColumnElement[bool], ...]]:
    """The table and the condition of a repository's (`repo_key`) resolution of an error. `row_repo` is the repository
    in the error's row of `error_kb`."""
    if row_repo == key:
        return error_kb, (error_kb.c.id == kb_id,)
    return error_elsewhere, (error_elsewhere.c.kb_id == kb_id, error_elsewhere.c.repo == (key or ""))


def set_commit(connection: sa.Connection, ids: Sequence[int], commit: str, key: str | None) -> None:
    """Set the commit of these errors' merged resolutions: those in `error_kb`, or with a key (`repo_key`) those of that
    repository in either table."""
    landed = {"commit": commit, "merged": True}
    for table, own in (
        (error_kb, error_kb.c.id.in_(tuple(ids)) & (sa.true() if key is None else error_kb.c.repo == key)),
        (error_elsewhere, error_elsewhere.c.kb_id.in_(tuple(ids)) & (error_elsewhere.c.repo == key)),
    ):
        keys = tuple(table.primary_key)
        stored = sa.cast(table.c.resolution, sa.Text).label("stored")
        for row in connection.execute(sa.select(*keys, stored).where(own)).all():
            values = {"resolution": _as_stored(read_resolution(row.stored).model_copy(update=landed))}
            same = (column == value for column, value in zip(keys, row, strict=False))
            connection.execute(sa.update(table).where(*same).values(values))


def index_files(connection: sa.Connection, kb_id: int, names: Iterable[str], used: str) -> None:
    """Add these base names to the files of a row, and set the last use of all its files."""
    connection.execute(sa.update(error_files).where(error_files.c.kb_id == kb_id).values(last_used=used))
    _add_names(connection, kb_id, names, used)


def read_resolution(raw: str) -> Resolution:
    """The resolution of a stored text. If the text is not the JSON object of a resolution, `how` is the text."""
    raw = sound(str(raw))
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return Resolution(how=raw)
    if not isinstance(data, dict):
        return Resolution(how=sound(data) if isinstance(data, str) else raw)
    try:
        return _sound(Resolution.model_validate({key: value for key, value in data.items() if key in _FIELDS}))
    except ValidationError:
        return Resolution(how=raw)


def _as_stored(resolution: Resolution) -> object:
    return resolution.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def _sound(resolution: Resolution) -> Resolution:
    """The resolution with texts that a database accepts, since JSON allows others (`"\\ud800"`). A patch with such
    characters is omitted."""
    texts = {name: sound(value) for name, value in resolution if isinstance(value, str)}
    steps = tuple(sound(step) for step in resolution.tool_sequence)
    patch = resolution.patch
    texts.pop("patch", None)
    return resolution.model_copy(
        update={**texts, "tool_sequence": steps, "patch": patch if patch is None or sound(patch) == patch else None}
    )


def _within_limits(resolution: Resolution) -> Resolution:
    """The resolution with its texts cut to their limits; a patch that is too long is omitted."""
    resolution = _sound(resolution)
    cut: dict[str, Any] = {name: value[:MAX_NAME] for name, value in resolution if isinstance(value, str)}
    cut["how"] = resolution.how[:MAX_HOW]
    cut["patch"] = resolution.patch if len(resolution.patch or "") <= MAX_PATCH else None
    cut["tool_sequence"] = tuple(step[:MAX_NAME] for step in resolution.tool_sequence[:_MAX_STEPS])
    return resolution.model_copy(update=cut)


def _claim(connection: sa.Connection, error: ResolvedError, figures: Mapping[str, int]) -> tuple[int, Any]:
    """The error's id and its existing row, locked until the transaction ends; None in place of the row if it was just
    inserted."""
    values = {**error.row(), **figures}
    query = insert(connection, error_kb).values(values).on_conflict_do_nothing(index_elements=["error_normalized"])
    new_id = connection.execute(query.returning(error_kb.c.id)).scalar_one_or_none()
    if new_id is not None:
        return int(new_id), None
    text = sa.cast(error_kb.c.resolution, sa.Text).label("resolution")
    columns = (error_kb.c.id, text, error_kb.c.repo, error_kb.c.last_used, error_kb.c.use_count)
    same = error_kb.c.error_normalized == error.text
    stored = connection.execute(sa.select(*columns).where(same).with_for_update()).one()
    return int(stored.id), stored


def _own(connection: sa.Connection, stored: Any, key: str | None) -> Any:
    """The row with that repository's resolution of an error: the stored row, also while it is unresolved, or one of
    `error_elsewhere`. None if the repository has none."""
    if stored.repo == key or stored.resolution is None:
        return stored
    table, same = place_of(stored.id, stored.repo, key)
    text = sa.cast(table.c.resolution, sa.Text).label("resolution")
    return connection.execute(sa.select(text, table.c.last_used, table.c.use_count).where(*same)).one_or_none()


def _is_repeat(own: Any, new: Resolution) -> bool:
    if new.run_id is None or own.resolution is None:
        return False
    old = read_resolution(own.resolution)
    return (old.run_id, old.attempt) == (new.run_id, new.attempt)


def _replace(connection: sa.Connection, stored: Any, error: ResolvedError, figures: Mapping[str, int]) -> None:
    """Store the error in that row; another repository's resolution moves to `error_elsewhere` with its figures."""
    if stored.repo != error.repo:
        mine = (error_elsewhere.c.kb_id == stored.id, error_elsewhere.c.repo == (error.repo or ""))
        connection.execute(sa.delete(error_elsewhere).where(*mine))
        used = sa.func.coalesce(error_kb.c.last_used, error_kb.c.ts)
        repo, counts = sa.func.coalesce(error_kb.c.repo, ""), [error_kb.c[name] for name in FIGURES]
        row = sa.select(error_kb.c.id, repo, error_kb.c.resolution, used, *counts)
        row = row.where(error_kb.c.id == stored.id, error_kb.c.resolution.is_not(sa.null()))
        names = ["kb_id", "repo", "resolution", "last_used", *FIGURES]
        connection.execute(sa.insert(error_elsewhere).from_select(names, row))
    unchanged = {"ts", "error_normalized"}
    if stored.repo == error.repo and error.raw == error.text:
        unchanged.add("error_raw")  # the stored text may be the printed one, which has more details
    changed = {name: value for name, value in error.row().items() if name not in unchanged}
    connection.execute(sa.update(error_kb).where(error_kb.c.id == stored.id).values({**changed, **figures}))


def _put_elsewhere(connection: sa.Connection, kb_id: int, error: ResolvedError, figures: Mapping[str, int]) -> None:
    """Store the resolution in `error_elsewhere`, in place of an earlier one of that repository."""
    row = {"resolution": error.stored_resolution(), "last_used": error.last_used, **figures}
    query = insert(connection, error_elsewhere).values(kb_id=kb_id, repo=error.repo or "", **row)
    connection.execute(query.on_conflict_do_update(index_elements=["kb_id", "repo"], set_=row))


def _add_names(connection: sa.Connection, kb_id: int, names: Iterable[str], used: str) -> None:
    for name in names:
        query = insert(connection, error_files).values(kb_id=kb_id, file_name=sound(name), last_used=used)
        connection.execute(query.on_conflict_do_nothing())
