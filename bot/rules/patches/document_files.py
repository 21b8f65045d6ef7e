"""Which files describe a project's code and are no part of it: changelogs, news fragments, documents."""

from __future__ import annotations

from pathlib import PurePosixPath

_ENDINGS = frozenset({".md", ".mdx", ".markdown", ".rst", ".adoc"})
_PLAIN_ENDINGS = frozenset({"", ".txt"})
_LOGS = ("changelog", "changes", "history", "news", "releases", "release-notes", "release_notes")
_AT_THE_ROOT = frozenset({"docs", "doc"})
_FRAGMENTS = frozenset({"changelog.d", "changelogs", ".changeset", ".changes", "newsfragments", "news.d"})
_OF_TESTS = frozenset({"test", "tests", "__tests__", "spec", "specs", "fixtures", "testdata", "__snapshots__", "e2e"})


def is_document(path: str) -> bool:
    """Whether a file is a changelog or a document by its path; what lies among tests is what they read."""
    *rooms, name = PurePosixPath(path.lower()).parts
    if not _OF_TESTS.isdisjoint(rooms):
        return False
    if not _FRAGMENTS.isdisjoint(rooms) or (rooms and rooms[0] in _AT_THE_ROOT):
        return True
    ending = PurePosixPath(name).suffix
    return ending in _ENDINGS or (ending in _PLAIN_ENDINGS and name.startswith(_LOGS))
