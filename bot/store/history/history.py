"""The error history: what made which error go away, found by file, by exact text or by the loose key, each by an index.

It also remembers what did not help, so that neither guidance nor a patch is tried for ever (REQ-RA-301..311)."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from bot.model import KnownError, Resolution
from bot.rules.failures.normalize import loose_key, normalize_error
from bot.rules.history.known_errors import base_name, file_names, is_spent
from bot.store.database.database import Database
from bot.store.database.sql import insert, iso_now, repo_key, sound
from bot.store.database.tables import dead_ends, error_files, error_kb, events
from bot.store.history.resolutions import MAX_RAW, file_under, move, put, read_resolution, resolved_error
from bot.store.history.visibility import COUNTS_HERE, HERE, follow, still_counts, visible_errors

MAX_LOOKED_UP = 1_000
"""Fingerprints of one failing check that are looked up; nobody reads more than the first few answers."""
_BATCH = 500
_LONGEST_NAME = 255
_MAX_FOREIGN = 100

_SHOWN = (
    error_kb.c.id,
    error_kb.c.error_normalized,
    error_kb.c.error_raw,
    sa.cast(error_kb.c.resolution, sa.Text).label("resolution"),  # as text: another program's need not be JSON
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
    .limit(sa.bindparam("most"))
)
# rows that another program wrote are no file's yet (see `adopt`): the seed's own way, over those few
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
_BY_FILE = tuple(query.where(still_counts(error_kb)) for query in (_FILED, _FOREIGN))
_BY_FILE_HERE = tuple(query.where(COUNTS_HERE) for query in (_FILED, _FOREIGN))
_LOOSE_HERE = _LOOSE.where(HERE)


class History:
    """The resolutions in this database. Texts are stored as given, but for what no database takes: what is secret must
    be masked before.

    With a `repo` (OWNER/NAME) only that repository's resolutions and those without one are told: what fixed a
    private repository is none of another's business. Without it, everything is."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, error: str, resolution: Resolution, *, paths: Sequence[str] = (), raw: str = "") -> int:
        """Remember what resolved an error (its text, raw or normalised; `raw` is the line as it was printed, where
        `error` is not); the latest resolution of the same error stands, with a higher `use_count` and its full weight.
        It is found by the base names in its text and those of `paths`.

        Another repository's earlier one stays beside it. The same attempt of the same run is one use, however often
        it is recorded. Gives its id. An error without text raises ValueError."""
        resolved = resolved_error(error, resolution, iso_now(), raw)
        names = file_names(resolved.text, paths)
        return await self._database.write(lambda connection: put(connection, resolved, names))

    async def by_file(self, path: str, most: int = 2, *, repo: str | None = None) -> tuple[KnownError, ...]:
        """The most recently used resolutions that involve a file of that base name, the whole of it (REQ-RA-301)."""
        name = sound(base_name(path))
        if not 0 < len(name) <= _LONGEST_NAME:
            return ()
        pattern = "%" + "".join(f"\\{sign}" if sign in "\\%_" else sign for sign in name) + "%"
        key = repo_key(repo)
        values = {"name": name, "pattern": pattern, "most": most, "foreign": most}
        if key is not None:  # whose another program's row is, only its text says
            values |= {"repo": key, "foreign": max(most, _MAX_FOREIGN)}
        queries = _BY_FILE if key is None else _BY_FILE_HERE

        def work(connection: sa.Connection) -> list[KnownError]:
            rows = [row for query in queries for row in connection.execute(query, values)]
            rows.sort(key=lambda row: row.rank or "", reverse=True)
            # of two that stand beside a row the later is told, whichever of them counts
            return [
                known for known in visible_errors(connection, rows, repo) if not is_spent(known.shown, known.passed)
            ]

        return tuple((await self._database.read(work))[:most])

    async def by_error(self, error: str, *, repo: str | None = None) -> KnownError | None:
        """What resolved this error: the same text once normalised, else the latest that differs only in what the
        loose key masks (`exact` is false then). Takes raw and normalised text alike."""
        text = sound(normalize_error(error))

        def work(connection: sa.Connection) -> KnownError | None:
            rows = connection.execute(_EXACT, {"text": text}).all()
            exact = visible_errors(connection, rows, repo)
            return exact[0] if exact else _loosely(connection, text, repo)

        return await self._database.read(work) if text else None

    async def by_errors(
        self, fingerprints: Sequence[str], repo: str | None = None, most: int = 10
    ) -> tuple[KnownError, ...]:
        """What resolved the errors of a failing check, in one read: first those of the very same text, then, for
        errors without one, what the loose key finds; each in the order of the fingerprints and no record twice.

        Looks at the first MAX_LOOKED_UP fingerprints, raw or normalised; resolutions come with their patches."""

        def work(connection: sa.Connection) -> list[KnownError]:
            texts = list(dict.fromkeys(sound(normalize_error(one)) for one in fingerprints[:MAX_LOOKED_UP]))
            exact: dict[str, KnownError] = {}
            for at in range(0, len(texts), _BATCH):
                rows = connection.execute(_ALL_EXACT, {"texts": texts[at : at + _BATCH]}).all()
                exact |= {known.error: known for known in visible_errors(connection, rows, repo)}
            found = {exact[text].id: exact[text] for text in texts if text in exact}
            for text in texts:
                if len(found) >= most:
                    break
                if text and text not in exact and (similar := _loosely(connection, text, repo)):
                    found.setdefault(similar.id, similar)
            return list(found.values())

        return tuple((await self._database.read(work))[:most])

    async def followed(self, known_errors: Sequence[KnownError], *, passed: bool) -> None:
        """Note what came of guidance: these were told before an attempt, and the attempt's checks passed or not. It
        counts for the repository whose resolution was told, and for no other's of the same error.

        One that passed was of use just now; one that has been shown in vain too often is told for no file any more,
        until `record` proves it anew."""
        await self._database.write(lambda connection: follow(connection, known_errors, passed=passed))

    async def landed(self, ids: Sequence[int], commit: str, *, repo: str | None = None) -> None:
        """What resolved these is in another commit from now on (a merge, a squash); nothing else changes about it. With
        a `repo`, what resolved them there: another repository's resolution of the same error keeps its commit."""
        await self._database.write(lambda connection: move(connection, ids, sound(commit), repo_key(repo)))

    async def dead_end(self, fingerprints: Sequence[str], patch_hash: str) -> None:
        """Remember that a patch did not make these errors go away."""
        errors = dict.fromkeys(map(sound, fingerprints))
        rows = [{"fingerprint": one, "patch_hash": patch_hash, "ts": iso_now()} for one in errors]

        def work(connection: sa.Connection) -> None:
            for row in rows:
                query = insert(connection, dead_ends).values(row)
                again = {"tries": dead_ends.c.tries + 1, "ts": row["ts"]}
                connection.execute(
                    query.on_conflict_do_update(index_elements=["fingerprint", "patch_hash"], set_=again)
                )

        await self._database.write(work)

    async def dead_ends(self, fingerprints: Sequence[str]) -> frozenset[str]:
        """The hashes of patches that did not help against one of these errors."""
        query = sa.select(dead_ends.c.patch_hash).where(dead_ends.c.fingerprint.in_(tuple(map(sound, fingerprints))))
        return frozenset(await self._database.column(query))

    async def tool_error(self, session_id: str, tool: str, error: str, *, project: str | None = None) -> None:
        """Append the event that the hook looks for before `Bash` (REQ-RA-302): normalised text, the raw one beside it.

        `session_id` is the agent's own, never a run's: a run's events have another shape."""
        data = {"tool": tool, "error": sound(normalize_error(error)), "errorRaw": sound(error[:MAX_RAW])}
        values = {"type": "tool_error", "ts": iso_now(), "session_id": session_id, "project": project, "data": data}
        await self._database.change(sa.insert(events).values(values))

    async def adopt(self) -> int:
        """Index resolved rows that another program wrote into `error_kb`, at most 500 a call; gives how many."""
        query = sa.select(*_SHOWN, error_kb.c.ts).where(error_kb.c.loose_key.is_(None), _RESOLVED).limit(_BATCH)

        def work(connection: sa.Connection) -> int:
            rows = connection.execute(query).all()
            for row in rows:
                whose = repo_key(read_resolution(row.resolution).repo)
                values = {"loose_key": loose_key(row.error_normalized), "repo": whose}
                connection.execute(sa.update(error_kb).where(error_kb.c.id == row.id).values(values))
                file_under(connection, row.id, file_names(row.error_normalized), row.last_used or row.ts)
            return len(rows)

        return await self._database.write(work)


def _loosely(connection: sa.Connection, text: str, repo: str | None) -> KnownError | None:
    key = repo_key(repo)
    query, values = (_LOOSE, {}) if key is None else (_LOOSE_HERE, {"repo": key})
    rows = connection.execute(query, {**values, "key": loose_key(text)}).all()
    visible = visible_errors(connection, rows, repo, exact=False)
    return visible[0] if visible else None
