"""The rows of resolved errors: one for each error with its latest resolution, and beside it, in `error_elsewhere`, what
other repositories had found before. So a repository can be told its own and never what another, private one did."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from pydantic import ValidationError
from sqlalchemy.dialects import postgresql, sqlite

from bot.model import KnownError, Resolution
from bot.reports.limits import strip_control
from bot.reports.redact import Redactor
from bot.rules.error_text import loose_key, normalize_error
from bot.store.tables import error_elsewhere, error_files, error_kb

MOST_PATCH = 200_000
"""Characters of a patch that are kept; a longer one is remembered by its hash alone."""
MOST_RAW = 4_000
MOST_HOW = 4_000
MOST_NAME = 200
"""Characters of a login, a tool, a repository: of whatever is no prose."""
_MOST_STEPS = 100

_FIELDS = {field.alias or name: name for name, field in Resolution.model_fields.items()}
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def iso(when: datetime) -> str:
    """A time as the history writes it: ISO 8601 in UTC to the millisecond, so that text sorts as time does."""
    return when.astimezone(UTC).isoformat(timespec="milliseconds")


def iso_now() -> str:
    return iso(datetime.now(UTC))


def sound(text: str) -> str:
    """The text with U+FFFD for what no database takes: lone surrogates, and the NUL that Postgres refuses."""
    return _UNSTORABLE.sub("\ufffd", text)


def repo_key(repo: str | None) -> str | None:
    """What tells repositories apart: OWNER/NAME in lower case, as GitHub ignores case; None for none."""
    return sound(repo)[:MOST_NAME].lower() if repo else None


def insert(connection: sa.Connection, table: sa.Table) -> Any:
    """An INSERT that can say what to do on a conflict, which is the dialect's."""
    return (sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert)(table)


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


def entry(error: str, resolution: Resolution, used: str) -> dict[str, Any]:
    """The row of a resolved error; raises ValueError where the error has no text."""
    text = sound(normalize_error(error))
    if not text:
        raise ValueError("the error has no text: give the message that the check or the tool printed")
    resolution = _within_limits(resolution)
    return {
        "ts": used,
        "error_normalized": text,
        "error_raw": sound(error[:MOST_RAW]),
        "resolution": resolution.model_dump(mode="json", by_alias=True, exclude_defaults=True),
        "resolved_by": resolution.resolved_by or None,
        "tool_sequence": list(resolution.tool_sequence),
        "last_used": used,
        "loose_key": loose_key(text),
        "repo": repo_key(resolution.repo),
    }


def put(connection: sa.Connection, values: dict[str, Any], names: Iterable[str]) -> int:
    """Insert a row of `entry`, or let it take the place of the same error's, and index it; gives its id.

    What the same attempt of the same run says again counts once, since a crash repeats the effect."""
    kb_id, stored = _claim(connection, values)
    if stored is None:
        file_under(connection, kb_id, names, values["last_used"])
        return kb_id
    if _is_repeat(connection, stored, values):
        return kb_id
    again = {"use_count": error_kb.c.use_count + 1, "shown": 0, "passed": 0}
    _replace(connection, stored, values, again)
    file_under(connection, kb_id, names, values["last_used"])
    return kb_id


def merge(connection: sa.Connection, values: dict[str, Any], names: Iterable[str], use_count: int) -> None:
    """Take a row of `entry` from another history: of two resolutions in one repository the later stands, and so it does
    in the error's row; the higher count stands."""
    kb_id, stored = _claim(connection, {**values, "use_count": use_count})
    if stored is None:
        file_under(connection, kb_id, names, values["last_used"])
        return
    if stored.resolution is None or (stored.last_used or "") < values["last_used"]:
        _replace(connection, stored, values, {"shown": 0, "passed": 0})
        file_under(connection, kb_id, names, values["last_used"])
    elif stored.repo != values["repo"] and _keep_elsewhere(connection, kb_id, values):
        _add_names(connection, kb_id, names, stored.last_used or values["last_used"])
    if use_count > stored.use_count:
        connection.execute(sa.update(error_kb).where(error_kb.c.id == kb_id).values(use_count=use_count))


def tell(connection: sa.Connection, rows: Sequence[Any], repo: str | None, *, exact: bool = True) -> list[KnownError]:
    """The known errors of rows of `error_kb`, in their order; with a repository, what it may be told of them: the
    latest resolution that is its own or nobody's. Rows that hold none are left out."""
    key = repo_key(repo)
    if key is None:
        return [_known(row, row.resolution, row.last_used, exact) for row in rows]
    away = [row.id for row in rows if row.repo not in (None, key)]
    query = sa.select(error_elsewhere.c.kb_id, sa.cast(error_elsewhere.c.resolution, sa.Text).label("resolution"),
                      error_elsewhere.c.last_used)  # fmt: skip
    query = query.where(error_elsewhere.c.kb_id.in_(away), error_elsewhere.c.repo.in_((key, "")))
    own = {row.kb_id: row for row in connection.execute(query.order_by(error_elsewhere.c.last_used))} if away else {}
    told = []
    for row in rows:
        source = row if row.repo in (None, key) else own.get(row.id)
        if source is None:
            continue
        known = _known(row, source.resolution, source.last_used, exact)
        # a row of another program's has its repository in its text alone
        if repo_key(known.resolution.repo) in (None, key):
            told.append(known)
    return told


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
    cut: dict[str, Any] = {name: value[:MOST_NAME] for name, value in found if isinstance(value, str)}
    cut["how"] = found.how[:MOST_HOW]
    cut["patch"] = found.patch if found.patch is None or len(found.patch) <= MOST_PATCH else None
    cut["tool_sequence"] = tuple(step[:MOST_NAME] for step in found.tool_sequence[:_MOST_STEPS])
    return found.model_copy(update=cut)


def _known(row: Any, resolution: str, last_used: str | None, exact: bool) -> KnownError:
    return KnownError(
        id=row.id,
        error=row.error_normalized,
        resolution=read_resolution(resolution),
        use_count=row.use_count,
        last_used=last_used or "",
        shown=row.shown,
        passed=row.passed,
        exact=exact,
    )


def _claim(connection: sa.Connection, values: dict[str, Any]) -> tuple[int, Any]:
    """The error's id and its row as it was, held until the transaction ends; None where it has just been inserted."""
    query = insert(connection, error_kb).values(values)
    query = query.on_conflict_do_nothing(index_elements=["error_normalized"]).returning(error_kb.c.id)
    made = connection.execute(query).scalar_one_or_none()
    if made is not None:
        return int(made), None
    text = sa.cast(error_kb.c.resolution, sa.Text).label("resolution")
    columns = (error_kb.c.id, text, error_kb.c.repo, error_kb.c.last_used, error_kb.c.use_count)
    same = error_kb.c.error_normalized == values["error_normalized"]
    stored = connection.execute(sa.select(*columns).where(same).with_for_update()).one()
    return int(stored.id), stored


def _is_repeat(connection: sa.Connection, stored: Any, values: dict[str, Any]) -> bool:
    new = values["resolution"]
    if "runId" not in new or stored.resolution is None:
        return False
    raw = stored.resolution
    if stored.repo != values["repo"]:
        raw = connection.execute(_elsewhere(stored.id, values["repo"])).scalar_one_or_none()
    old = read_resolution(raw) if raw is not None else Resolution()
    return (old.run_id, old.attempt) == (new["runId"], new.get("attempt"))


def _elsewhere(kb_id: int, repo: str | None) -> sa.Select[Any]:
    query = sa.select(sa.cast(error_elsewhere.c.resolution, sa.Text))
    return query.where(error_elsewhere.c.kb_id == kb_id, error_elsewhere.c.repo == (repo or ""))


def _replace(connection: sa.Connection, stored: Any, values: dict[str, Any], more: dict[str, Any]) -> None:
    """Let the values take the row; what another repository had there goes beside it."""
    if stored.repo != values["repo"]:
        mine = (error_elsewhere.c.kb_id == stored.id, error_elsewhere.c.repo == (values["repo"] or ""))
        connection.execute(sa.delete(error_elsewhere).where(*mine))
        used = sa.func.coalesce(error_kb.c.last_used, error_kb.c.ts)
        row = sa.select(error_kb.c.id, sa.func.coalesce(error_kb.c.repo, ""), error_kb.c.resolution, used)
        row = row.where(error_kb.c.id == stored.id, error_kb.c.resolution.is_not(sa.null()))
        names = ["kb_id", "repo", "resolution", "last_used"]
        connection.execute(sa.insert(error_elsewhere).from_select(names, row))
    changed = {name: value for name, value in values.items() if name not in ("ts", "error_normalized")}
    connection.execute(sa.update(error_kb).where(error_kb.c.id == stored.id).values({**changed, **more}))


def _keep_elsewhere(connection: sa.Connection, kb_id: int, values: dict[str, Any]) -> bool:
    """Put the values beside the row unless something later of that repository is there; says whether it did."""
    row = {"kb_id": kb_id, "repo": values["repo"] or "", "resolution": values["resolution"]}
    row["last_used"] = values["last_used"]
    query = insert(connection, error_elsewhere).values(row)
    query = query.on_conflict_do_update(
        index_elements=["kb_id", "repo"],
        set_={name: query.excluded[name] for name in ("resolution", "last_used")},
        where=error_elsewhere.c.last_used < query.excluded.last_used,
    )
    return connection.execute(query.returning(error_elsewhere.c.kb_id)).first() is not None


def _add_names(connection: sa.Connection, kb_id: int, names: Iterable[str], used: str) -> None:
    for name in names:
        query = insert(connection, error_files).values(kb_id=kb_id, file_name=sound(name), last_used=used)
        connection.execute(query.on_conflict_do_nothing())
