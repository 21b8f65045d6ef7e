"""What is read of one test file: its tests with their assertions, and what may weaken them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Case:
    """One test: its name (a skipped one has the same), its lines and its assertions, layout evened out."""

    name: str
    lines: tuple[str, ...] = ()
    assertions: tuple[str, ...] = ()
    quits: int = 0
    """How often it ends early, or ignores a failure in it."""
    groups: tuple[str, ...] = ()
    """The names of the classes, `describe` blocks and tests around it, outermost first."""
    skips: int = 0
    """How many markers in it or right before it skip it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one text holds. `loose` are assertions outside of cases, as in a function that several tests call.

    `skips` counts the markers as written, `ignores` by their kind. `rows` are those of the tables that tests
    go through, `exits` count what ends the whole run with success, `hidden` tests in a class that is not collected;
    `calls` are the tests that the file itself calls. `empty` is whether it has no code. `by_text`: it was read by the
    look of its lines, so it compares with another such reading only. `helpers` are its functions that assert."""

    cases: tuple[Case, ...] = ()
    loose: tuple[str, ...] = ()
    skips: int = 0
    ignores: Counter[str] = field(default_factory=Counter)
    rows: tuple[str, ...] = ()
    exits: int = 0
    hidden: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    empty: bool = False
    by_text: bool = False
    helpers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ChangedTests:
    """A changed file and what is read of it; a text is None where there is no file."""

    path: str
    before: Reading
    after: Reading
    old_text: str | None
    new_text: str | None

    @property
    def is_new(self) -> bool:
        """Whether the change adds the file."""
        return self.old_text is None

    @property
    def is_gone(self) -> bool:
        """Whether the change deletes the file."""
        return self.new_text is None
