"""What is around a node while a test file is read: groups, cases, functions; and what belongs to each case."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from dataclasses import dataclass, field, replace

Span = tuple[int, int]
_MAX_GROUPS = 20


@dataclass(frozen=True, slots=True)
class Scope:
    """The names of the groups around a node, its case (-1 without one), its function, and how many functions are
    between it and its case. `within` numbers the groups, cases and functions around it, outermost first; it starts
    with the file. What is `dead` never runs; tests right in a `hidden` class are not collected."""

    end: int
    groups: tuple[str, ...] = ()
    within: tuple[int, ...] = (0,)
    case: int = -1
    function: str = ""
    functions: int = 0
    dead: bool = False
    hidden: bool = False


@dataclass(slots=True)
class DraftCase:
    """A case while its tree is read. `start` is where its decorators or its call begin. `functions`: how many
    functions its own code is within."""

    name: str
    groups: tuple[str, ...]
    start: int
    body: Span
    functions: int
    assertions: list[Span] = field(default_factory=list)
    quits: int = 0


class Scopes:
    """A stack of scopes, and the cases that were found in them."""

    def __init__(self, end: int) -> None:
        self._stack = [Scope(end + 1)]
        self._count = 0
        self._asserted: set[Span] = set()
        self._skipped: set[int] = set()
        self._calls: list[tuple[str, int, Span]] = []
        self.cases: list[DraftCase] = []
        self.loose: list[Span] = []
        self.helpers: set[str] = set()
        """The functions that assert."""
        self.hidden = 0

    @property
    def now(self) -> Scope:
        """The innermost scope."""
        return self._stack[-1]

    @property
    def skips(self) -> int:
        """How many places skip tests."""
        return len(self._skipped)

    def case_skips(self) -> list[int]:
        """How many of them are in each case or right before it."""
        places = sorted(self._skipped)
        return [bisect_left(places, case.body[1]) - bisect_left(places, case.start) for case in self.cases]

    def leave(self, start: int) -> None:
        """Ends the scopes that are over where a node starts."""
        while self.now.end <= start:
            self._stack.pop()

    def _inside(self) -> tuple[int, ...]:
        """The numbers around what is in a new scope."""
        self._count += 1
        return (*self.now.within, self._count)[:_MAX_GROUPS]

    def add_function(self, end: int, name: str) -> None:
        """A function that is no case."""
        now = self.now
        functions = now.functions + 1
        function = name or now.function
        within = self._inside()
        self._stack.append(replace(now, end=end, within=within, function=function, functions=functions, hidden=False))

    def add_group(self, end: int, name: str, *, hidden: bool = False) -> None:
        """A class or a block of tests."""
        groups = (*self.now.groups, name)[:_MAX_GROUPS]
        self._stack.append(replace(self.now, end=end, groups=groups, within=self._inside(), hidden=hidden))

    def add_dead(self, end: int) -> None:
        """Code that never runs."""
        self._stack.append(replace(self.now, end=end, dead=True))

    def add_case(self, name: str, start: int, body: Span, functions: int) -> None:
        """A test; it ends with its body."""
        now = self.now
        self.hidden += now.hidden
        if not now.dead:
            self.cases.append(DraftCase(name, now.groups, start, body, functions))
            groups = (*now.groups, name)[:_MAX_GROUPS]
            within = self._inside()
            self._stack.append(Scope(end=body[1], groups=groups, within=within, case=len(self.cases) - 1))

    def add_skip(self, start: int) -> None:
        """A marker that skips tests; there is one at most at each place."""
        if not self.now.dead:
            self._skipped.add(start)

    def add_quit(self) -> None:
        """An early end of the case around."""
        if self.now.case >= 0 and not self.now.dead:
            self.cases[self.now.case].quits += 1

    def add_call(self, name: str, span: Span) -> None:
        """A call of a function that may be one of the file itself."""
        if not self.now.dead:
            self._calls.append((name, self.now.case, span))

    def add_assertion(self, span: Span) -> None:
        """An assertion in the case around, or outside of cases."""
        now = self.now
        if now.dead or span in self._asserted:
            return
        self._asserted.add(span)
        if now.case >= 0:
            self.cases[now.case].assertions.append(span)
            return
        self.loose.append(span)
        if now.function:
            self.helpers.add(now.function)

    def add_helper_calls(self, others: Collection[str]) -> None:
        """Counts calls of functions that assert as assertions; `others` are those of other files."""
        for name, case, span in self._calls:
            if (name in self.helpers or name in others) and span not in self._asserted:
                (self.cases[case].assertions if case >= 0 else self.loose).append(span)

    def calls_of_cases(self) -> list[str]:
        """The names of the cases that the file itself calls, as often as it does."""
        names = {case.name for case in self.cases}
        return [name for name, case, _ in self._calls if case < 0 and name in names]
