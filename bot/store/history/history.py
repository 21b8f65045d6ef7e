"""The error history: errors and their resolutions, which are found by file, by exact text, by the loose key or by the
template of the Drain tree.

It also records guidance and patches that did not help, so that neither is tried for ever (REQ-RA-301..311)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

import sqlalchemy as sa

from bot.model import KnownError, Resolution
from bot.rules.failures.normalize import loose_key, normalize_error
from bot.rules.history.drain import position, same_template
from bot.rules.history.known_errors import base_name, file_names, is_spent
from bot.store.database.database import Database
from bot.store.database.sql import insert, iso_now, repo_key, sound
from bot.store.database.tables import dead_ends, error_files, error_kb, events
from bot.store.history.resolutions import MAX_RAW, index_files, put, read_resolution, resolved_error, set_commit
from bot.store.history.visibility import COUNTS_HERE, HERE, follow, still_counts, visible_errors

MAX_LOOKED_UP = 1_000
"""The maximal number of fingerprints that are looked up for one failing check; only the first few results are used."""
MAX_OF_LEAF = 200
"""The maximal number of errors that a leaf of the Drain tree is built of; the most recently used are taken."""
_BATCH = 500
_MAX_NAME_LENGTH = 255
_MAX_FOREIGN = 100

_SHOWN = (
    error_kb.c.id,
    error_kb.c.error_normalized,
    error_kb.c.error_raw,
    sa.cast(error_kb.c.resolution, sa.Text).label("resolution"),  # as text, since other programs' need not be JSON
    error_kb.c.use_count,
    error_kb.c.last_used,
    error_kb.c.shown,
    error_kb.c.passed,
    error_kb.c.repo,
)
_RESOLVED = error_kb.c.resolution.is_not(sa.null())
_FILED = (
    sa.select(*_SHOWN, error_files.c.last_used.label("rank"))
    .join(error_files, error_files.c.kb_id == error_kb.c.id)
    .where(error_files.c.file_name == sa.bindparam("name"), _RESOLVED)
    .order_by(error_files.c.last_used.desc())
    .limit(sa.bindparam("limit"))
)
# rows of other programs have no files in the index yet (see `adopt`); their text is searched, as the seed does
_FOREIGN = (
    sa.select(*_SHOWN, error_kb.c.last_used.label("rank"))
    .where(error_kb.c.loose_key.is_(None), _RESOLVED)
    .where(error_kb.c.error_normalized.ilike(sa.bindparam("pattern"), escape="\\"))
    .order_by(error_kb.c.last_used.desc())
    .limit(sa.bindparam("foreign"))
)
_EXACT = sa.select(*_SHOWN).where(error_kb.c.error_normalized == sa.bindparam("text"), _RESOLVED)
_ALL_EXACT = sa.select(*_SHOWN).where(error_kb.c.error_normalized.in_(sa.bindparam("texts", expanding=True)), _RESOLVED)
_LOOSE = (
    sa.select(*_SHOWN)
    .where(error_kb.c.loose_key == sa.bindparam("key"), _RESOLVED)
    .order_by(error_kb.c.last_used.desc())
    .limit(1)
)
_OF_LEAF = (
    sa.select(*_SHOWN)
    .where(error_kb.c.leaf == sa.bindparam("leaf"), _RESOLVED)
    .order_by(error_kb.c.last_used.desc())
    .limit(MAX_OF_LEAF)
)
_BY_FILE = tuple(query.where(still_counts(error_kb)) for query in (_FILED, _FOREIGN))
_BY_FILE_HERE = tuple(query.where(COUNTS_HERE) for query in (_FILED, _FOREIGN))
_LOOSE_HERE = _LOOSE.where(HERE)
_OF_LEAF_HERE = _OF_LEAF.where(HERE)


class History:
    """The resolutions in this database. Texts are stored unchanged, except for characters that a database refuses;
    callers must mask secrets.

    With a `repo` (OWNER/NAME), a look-up returns only resolutions of that repository or of none, since private
    repositories must not see each other's. Without it, a look-up returns all."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, error: str, resolution: Resolution, *, paths: Sequence[str] = (), raw: str = "") -> int:
        """Store the resolution of an error and return the error's id. `error` may be raw or normalised; `raw` is the
        printed line, if `error` is not. The look-up by file uses the base names in the text and in `paths`.

        It replaces an earlier resolution of the same repository, increments `use_count` and resets `shown` and
        `passed`. An earlier resolution of another repository is stored separately. Recording the same attempt of the
        same run again counts as one use. Raises ValueError for an error without text."""
        resolved = resolved_error(error, resolution, iso_now(), raw)
        names = file_names(resolved.text, paths)
        return await self._database.write(lambda connection: put(connection, resolved, names))

    async def by_file(self, path: str, limit: int = 2, *, repo: str | None = None) -> tuple[KnownError, ...]:
        """The most recently used resolutions that involve a file with exactly that base name (REQ-RA-301)."""
        name = sound(base_name(path))
        if not 0 < len(name) <= _MAX_NAME_LENGTH:
            return ()
        pattern = "%" + re.sub(r"([\\%_])", r"\\\1", name) + "%"
        key = repo_key(repo)
        values = {"name": name, "pattern": pattern, "limit": limit, "foreign": limit}
        if key is not None:  # rows of other programs have their repository in the text only, so it is checked below
            values |= {"repo": key, "foreign": max(limit, _MAX_FOREIGN)}
        queries = _BY_FILE if key is None else _BY_FILE_HERE

        def work(connection: sa.Connection) -> list[KnownError]:
            rows = [row for query in queries for row in connection.execute(query, values)]
            rows.sort(key=lambda row: row.rank or "", reverse=True)
            # `visible_errors` picks the latest of several resolutions of an error, which may be spent
            return [
                known for known in visible_errors(connection, rows, repo) if not is_spent(known.shown, known.passed)
            ]

        return tuple((await self._database.read(work))[:limit])

    async def by_error(self, error: str, *, repo: str | None = None) -> KnownError | None:
        """The known error with the same normalised text, else the latest one with the same loose key, else the latest
        one with the same template (`KnownError.match`). `error` may be raw or normalised."""
        text = sound(normalize_error(error))

        def work(connection: sa.Connection) -> KnownError | None:
            rows = connection.execute(_EXACT, {"text": text}).all()
            exact = visible_errors(connection, rows, repo)
            return exact[0] if exact else _by_loose_key(connection, text, repo) or _by_template(connection, text, repo)

        return await self._database.read(work) if text else None

    async def by_errors(
        self, fingerprints: Sequence[str], repo: str | None = None, limit: int = 10, check: str | None = None
    ) -> tuple[KnownError, ...]:
        """The known errors for the errors of a failing check, without duplicates: first those with the same text, then
        those with the same loose key, then those with the same template. Each are in the order of the fingerprints.

        With a check, errors that another check showed are not compared by template. Only the first MAX_LOOKED_UP
        fingerprints are looked up, raw or normalised. Resolutions include patches."""

        def work(connection: sa.Connection) -> list[KnownError]:
            texts = list(dict.fromkeys(sound(normalize_error(error)) for error in fingerprints[:MAX_LOOKED_UP]))
            exact: dict[str, KnownError] = {}
            for at in range(0, len(texts), _BATCH):
                rows = connection.execute(_ALL_EXACT, {"texts": texts[at : at + _BATCH]}).all()
                exact |= {known.error: known for known in visible_errors(connection, rows, repo)}
            by_id = {exact[text].id: exact[text] for text in texts if text in exact}
            others = [text for text in texts if text and text not in exact]
            for find in (_by_loose_key, partial(_by_template, check=check)):
                for text in tuple(others):
                    if len(by_id) >= limit:
                        break
                    if (known := find(connection, text, repo)) is not None:
                        others.remove(text)
                        by_id.setdefault(known.id, known)
            return list(by_id.values())

        return tuple((await self._database.read(work))[:limit])

    async def followed(self, known_errors: Sequence[KnownError], *, passed: bool) -> None:
        """Count the known errors that were shown to an agent before an attempt, and whether the attempt's checks
        passed. It counts only for the resolution that was shown, and not for other repositories'.

        If they passed, the last use is now. A resolution that failed too often is no longer found by file, until
        `record` stores it again."""
        await self._database.write(lambda connection: follow(connection, known_errors, passed=passed))

    async def landed(self, ids: Sequence[int], commit: str, *, repo: str | None = None) -> None:
        """Set the commit of these errors' resolutions and that they are merged; nothing else changes. With a `repo`,
        only that repository's resolutions change."""
        await self._database.write(lambda connection: set_commit(connection, ids, sound(commit), repo_key(repo)))

    async def dead_end(self, fingerprints: Sequence[str], patch_hash: str) -> None:
        """Record that a patch did not resolve these errors."""
        errors, now = dict.fromkeys(map(sound, fingerprints)), iso_now()

        def work(connection: sa.Connection) -> None:
            for error in errors:
                query = insert(connection, dead_ends).values(fingerprint=error, patch_hash=patch_hash, ts=now)
                update = {"tries": dead_ends.c.tries + 1, "ts": now}
                connection.execute(
                    query.on_conflict_do_update(index_elements=["fingerprint", "patch_hash"], set_=update)
                )

        await self._database.write(work)

    async def dead_ends(self, fingerprints: Sequence[str]) -> frozenset[str]:
        """The hashes of patches that did not resolve one of these errors."""
        query = sa.select(dead_ends.c.patch_hash).where(dead_ends.c.fingerprint.in_(tuple(map(sound, fingerprints))))
        return frozenset(await self._database.column(query))

    async def tool_error(self, session_id: str, tool: str, error: str, *, project: str | None = None) -> None:
        """Append an event with the normalised and the raw text, which the hook reads before `Bash` (REQ-RA-302).

        `session_id` is the agent's own and never a run's id, since a run's events have another shape."""
        data = {"tool": tool, "error": sound(normalize_error(error)), "errorRaw": sound(error[:MAX_RAW])}
        values = {"type": "tool_error", "ts": iso_now(), "session_id": session_id, "project": project, "data": data}
        await self._database.change(sa.insert(events).values(values))

    async def adopt(self) -> int:
        """Index resolved rows that another program wrote into `error_kb`, at most 500 a call; returns how many."""
        query = sa.select(*_SHOWN, error_kb.c.ts).where(error_kb.c.loose_key.is_(None), _RESOLVED).limit(_BATCH)

        def work(connection: sa.Connection) -> int:
            rows = connection.execute(query).all()
            for row in rows:
                key = repo_key(read_resolution(row.resolution).repo)
                values = {
                    "loose_key": loose_key(text := row.error_normalized),
                    "leaf": position(text).leaf,
                    "repo": key,
                }
                connection.execute(sa.update(error_kb).where(error_kb.c.id == row.id).values(values))
                index_files(connection, row.id, file_names(row.error_normalized), row.last_used or row.ts)
            return len(rows)

        return await self._database.write(work)


def _by_loose_key(connection: sa.Connection, text: str, repo: str | None) -> KnownError | None:
    key = repo_key(repo)
    query, values = (_LOOSE, {}) if key is None else (_LOOSE_HERE, {"repo": key})
    rows = connection.execute(query, {**values, "key": loose_key(text)}).all()
    visible = visible_errors(connection, rows, repo, exact=False)
    return visible[0] if visible else None


def _by_template(
    connection: sa.Connection, text: str, repo: str | None, *, check: str | None = None
) -> KnownError | None:
    """The most recently used error with the same template. The leaf of the Drain tree is built anew of its errors, so
    that all processes have the same tree."""
    key, place = repo_key(repo), position(text)
    query, values = (_OF_LEAF, {}) if key is None else (_OF_LEAF_HERE, {"repo": key})
    rows = connection.execute(query, {**values, "leaf": place.leaf}).all()
    visible = visible_errors(connection, rows, repo, exact=False)
    known = [one for one in visible if not check or one.resolution.check in (None, check)]
    known.sort(key=lambda one: one.id)  # in the order in which they were learned
    same = same_template(place.words, [position(one.error).words for one in known])
    latest = max((known[index] for index in same), key=lambda one: one.last_used, default=None)
    return None if latest is None else latest.model_copy(update={"by_template": True})
