"""The rows of resolved errors: one for each error with its latest resolution, and beside it, in `error_elsewhere`, what
other repositories had found before, each with its own figures. `store.history.visibility` says what of it is told
where."""

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
from bot.store.database.sql import MAX_NAME, insert, repo_key, sound
from bot.store.database.tables import error_elsewhere, error_files, error_kb

MAX_PATCH = 200_000
"""Characters of a patch that are kept; a longer one is remembered by its hash alone."""
FIGURES = ("use_count", "shown", "passed")
"""What is counted of a resolution, for each repository that has one."""
MAX_RAW = 4_000
MAX_HOW = 4_000
_MAX_STEPS = 100

_FIELDS = {field.alias or name: name for name, field in Resolution.model_fields.items()}


def masked(resolution: Resolution, redactor: Redactor) -> Resolution:
    """A resolution without secrets and control characters; a patch that holds a secret is left out, as it can't be cut
    without becoming another patch."""

    def safe(value: Any) -> Any:
        if isinstance(value, str):
            return redactor.mask(strip_control(value))
        return tuple(safe(item) for item in value) if isinstance(value, tuple) else value

    changed = {name: safe(value) for name, value in resolution if name != "patch"}
    patch = resolution.patch
    return Resolution(**changed, patch=patch if patch is None or redactor.mask(patch) == patch else None)


class ResolvedError(Model):
    """A resolved error within the limits of its row: the normalised text, the text as it was printed, and when it was
    used last."""

    text: str
    raw: str
    resolution: Resolution
    last_used: str

    @property
    def repo(self) -> str | None:
        return repo_key(self.resolution.repo)

    def row(self) -> dict[str, Any]:
        """The error as a row of `error_kb`."""
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
        }

    def stored_resolution(self) -> object:
        return self.resolution.model_dump(mode="json", by_alias=True, exclude_defaults=True)


def resolved_error(error: str, resolution: Resolution, last_used: str, raw: str = "") -> ResolvedError:
    """The resolved error; `raw` is how it was printed where `error` is not that. Raises ValueError for an error without
    text."""
    text = sound(normalize_error(error))
    if not text:
        raise ValueError("the error has no text: give the message that the check or the tool printed")
    shown = sound((raw or error)[:MAX_RAW])
    return ResolvedError(text=text, raw=shown, resolution=_within_limits(resolution), last_used=last_used)


def put(connection: sa.Connection, error: ResolvedError, names: Iterable[str]) -> int:
    """Insert the error's row, or replace the row of the same error, and index it; returns its id.

    A repeat of the same attempt of the same run counts once, since a crash repeats the effect."""
    kb_id, stored = _claim(connection, error, {})
    if stored is None:
        file_under(connection, kb_id, names, error.last_used)
        return kb_id
    own = _own(connection, stored, error.repo)
    if own is not None and _is_repeat(own, error.resolution):
        return kb_id
    again = {"use_count": own.use_count + 1 if own is not None else 1, "shown": 0, "passed": 0}
    _replace(connection, stored, error, again)
    file_under(connection, kb_id, names, error.last_used)
    return kb_id


def merge(connection: sa.Connection, error: ResolvedError, names: Iterable[str], figures: Mapping[str, int]) -> None:
    """Take an error with its figures (`use_count`, `shown`, `passed`) from another history. Of two resolutions in one
    repository the later stands, also in the error's row; the repository's higher count stands."""
    kb_id, stored = _claim(connection, error, figures)
    if stored is None:
        file_under(connection, kb_id, names, error.last_used)
        return
    own = _own(connection, stored, error.repo)
    most = max(figures["use_count"], own.use_count if own is not None else 1)
    if own is not None and own.resolution is not None and (own.last_used or "") >= error.last_used:
        table, same = place_of(kb_id, stored.repo, error.repo)
        connection.execute(sa.update(table).where(*same).values(use_count=most))
        return
    figures = {**figures, "use_count": most}
    if stored.resolution is None or (stored.last_used or "") < error.last_used:
        _replace(connection, stored, error, figures)
        file_under(connection, kb_id, names, error.last_used)
    else:
        _put_beside(connection, kb_id, error, figures)
        _add_names(connection, kb_id, names, stored.last_used or error.last_used)


def place_of(kb_id: int, whose: str | None, key: str | None) -> tuple[sa.Table, tuple[sa.ColumnElement[bool], ...]]:
    """Where that repository's (`repo_key`) resolution stands, the error's row being `whose`: there or beside it."""
    if whose == key:
        return error_kb, (error_kb.c.id == kb_id,)
    return error_elsewhere, (error_elsewhere.c.kb_id == kb_id, error_elsewhere.c.repo == (key or ""))


def move(connection: sa.Connection, ids: Sequence[int], commit: str, key: str | None) -> None:
    """Let the resolutions of these errors name another commit: those in the errors' rows, or with a key (`repo_key`)
    those of that repository, wherever they stand."""
    there = (error_elsewhere, error_elsewhere.c.kb_id.in_(tuple(ids)) & (error_elsewhere.c.repo == key))
    here = (error_kb, error_kb.c.id.in_(tuple(ids)) & (sa.true() if key is None else error_kb.c.repo == key))
    for table, own in (here, there):
        keys = tuple(table.primary_key)
        stored = sa.cast(table.c.resolution, sa.Text).label("stored")
        for row in connection.execute(sa.select(*keys, stored).where(own)).all():
            moved = read_resolution(row.stored).model_copy(update={"commit": commit})
            values = {"resolution": moved.model_dump(mode="json", by_alias=True, exclude_defaults=True)}
            same = (column == value for column, value in zip(keys, row, strict=False))
            connection.execute(sa.update(table).where(*same).values(values))


def file_under(connection: sa.Connection, kb_id: int, names: Iterable[str], used: str) -> None:
    """Let a row be found by those base names, and by all that it had, as used at that time."""
    connection.execute(sa.update(error_files).where(error_files.c.kb_id == kb_id).values(last_used=used))
    _add_names(connection, kb_id, names, used)


def read_resolution(raw: str) -> Resolution:
    """A stored resolution; whatever is no JSON object of that shape is told as it is, in `how`."""
    raw = sound(str(raw))
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return Resolution(how=raw)
    if not isinstance(data, dict):
        return Resolution(how=sound(data) if isinstance(data, str) else raw)
    try:
        found = Resolution.model_validate({key: value for key, value in data.items() if key in _FIELDS})
    except ValidationError:
        return Resolution(how=raw)
    return _sound(found)


def _sound(resolution: Resolution) -> Resolution:
    """JSON can name what no text may hold (`"\\ud800"`)."""
    texts = {name: sound(value) for name, value in resolution if isinstance(value, str)}
    steps = tuple(sound(step) for step in resolution.tool_sequence)
    patch = resolution.patch
    texts.pop("patch", None)
    return resolution.model_copy(
        update={**texts, "tool_sequence": steps, "patch": patch if patch is None or sound(patch) == patch else None}
    )


def _within_limits(resolution: Resolution) -> Resolution:
    """Whatever its author wrote, a row stays small but for its patch; a patch is kept whole or not at all."""
    found = _sound(resolution)
    cut: dict[str, Any] = {name: value[:MAX_NAME] for name, value in found if isinstance(value, str)}
    cut["how"] = found.how[:MAX_HOW]
    cut["patch"] = found.patch if found.patch is None or len(found.patch) <= MAX_PATCH else None
    cut["tool_sequence"] = tuple(step[:MAX_NAME] for step in found.tool_sequence[:_MAX_STEPS])
    return found.model_copy(update=cut)


def _claim(connection: sa.Connection, error: ResolvedError, figures: Mapping[str, int]) -> tuple[int, Any]:
    """The error's id and its row as it was, held until the transaction ends; None where it has just been inserted."""
    values = {**error.row(), **figures}
    query = insert(connection, error_kb).values(values).on_conflict_do_nothing(index_elements=["error_normalized"])
    made = connection.execute(query.returning(error_kb.c.id)).scalar_one_or_none()
    if made is not None:
        return int(made), None
    text = sa.cast(error_kb.c.resolution, sa.Text).label("resolution")
    columns = (error_kb.c.id, text, error_kb.c.repo, error_kb.c.last_used, error_kb.c.use_count)
    same = error_kb.c.error_normalized == error.text
    stored = connection.execute(sa.select(*columns).where(same).with_for_update()).one()
    return int(stored.id), stored


def _own(connection: sa.Connection, stored: Any, key: str | None) -> Any:
    """What that repository has of a stored row: the row itself, which is anybody's while unresolved, or the one beside
    it; None where it has nothing."""
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
    """Store the error in that row; the resolution of another repository moves beside it with its figures."""
    if stored.repo != error.repo:
        mine = (error_elsewhere.c.kb_id == stored.id, error_elsewhere.c.repo == (error.repo or ""))
        connection.execute(sa.delete(error_elsewhere).where(*mine))
        used = sa.func.coalesce(error_kb.c.last_used, error_kb.c.ts)
        whose, counts = sa.func.coalesce(error_kb.c.repo, ""), [error_kb.c[name] for name in FIGURES]
        row = sa.select(error_kb.c.id, whose, error_kb.c.resolution, used, *counts)
        row = row.where(error_kb.c.id == stored.id, error_kb.c.resolution.is_not(sa.null()))
        names = ["kb_id", "repo", "resolution", "last_used", *FIGURES]
        connection.execute(sa.insert(error_elsewhere).from_select(names, row))
    kept = {"ts", "error_normalized"}
    if stored.repo == error.repo and error.raw == error.text:
        kept.add("error_raw")  # the key says less than what was printed; another repository's text is not this one's
    changed = {name: value for name, value in error.row().items() if name not in kept}
    connection.execute(sa.update(error_kb).where(error_kb.c.id == stored.id).values({**changed, **figures}))


def _put_beside(connection: sa.Connection, kb_id: int, error: ResolvedError, figures: Mapping[str, int]) -> None:
    """Store the resolution beside the row, in place of an earlier one of that repository."""
    row = {"resolution": error.stored_resolution(), "last_used": error.last_used, **figures}
    query = insert(connection, error_elsewhere).values(kb_id=kb_id, repo=error.repo or "", **row)
    connection.execute(query.on_conflict_do_update(index_elements=["kb_id", "repo"], set_=row))


def _add_names(connection: sa.Connection, kb_id: int, names: Iterable[str], used: str) -> None:
    for name in names:
        query = insert(connection, error_files).values(kb_id=kb_id, file_name=sound(name), last_used=used)
        connection.execute(query.on_conflict_do_nothing())
