"""Whether the tests that ran after a change are those that ran before it: a test that no longer runs is no fix.
What failed before must have run and passed; what ran before must run still (REQ-STOP-006)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from bot.model import SuiteCounts
from bot.model.reasons import Reason
from bot.rules.reasons import make_reason
from bot.rules.tampering.readings import Case
from bot.rules.tampering.test_source import is_snapshot, is_test, parse_tests
from bot.rules.tampering.weakened_tests import FileTexts
from bot.rules.test_results.suite_result import SuiteResult

_NAMED = 5
_NAME_CHARS = 120
_UNSTABLE = re.compile(
    r"0x[0-9a-fA-F]{4,}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d[.\d]*)?)?"
)
"""The parts of a name that differ from run to run: an address, a UUID, the time."""

_NUMBERED = re.compile(r" \(\d+\)$|#\d+$")


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a check that passed. `refused` is why it counts as failed. `compared` is false where the runner
    did not name its tests, so that only exit status and fingerprints decided."""

    refused: Reason | None = None
    compared: bool = True


def judge_tests(
    before: SuiteResult | None,
    after: SuiteResult | None,
    files: Sequence[FileTexts],
    *,
    red: bool,
    tolerated: Callable[[str], bool],
) -> Judgement:
    """The verdict on a check that passed, from the tests that ran `before` the change and `after` it.

    `files` are all files of the change with their texts, `red` is whether the check failed before it. A failed test
    that is `tolerated` was not caused by the change and may still fail; it only needs to run. A renamed or moved
    test is the same test if it has the same assertions and passed."""
    if red:
        alone = _tests_alone(before, files)
        if alone is not None:
            return Judgement(refused=alone)
    if before is None or not before.says_something:
        return Judgement(compared=False)
    if after is not None and after.whole:
        return Judgement(refused=_difference(before, after, files, tolerated))
    if before.counts is not None and after is not None and after.counts is not None:
        return Judgement(refused=_by_counts(before, after), compared=False)
    if before.whole and before.named("passed"):
        # a runner that named what passed has gone silent: nothing shows that anything ran
        failed = before.named("failed")
        return Judgement(refused=_not_run(failed or before.named("passed"), failed=bool(failed)))
    if before.counts is not None:
        # nor does one that counted its tests before and counts none now: quiet runners print their sum either way
        return Judgement(refused=_by_counts(before, SuiteResult(counts=SuiteCounts())), compared=False)
    return Judgement(compared=False)


def may_be_tests_only(paths: Collection[str]) -> bool:
    """Whether a change of these files may be one of tests alone, so that their texts have to be read."""
    return bool(paths) and all(is_test(path) or is_snapshot(path) or path.endswith(".rs") for path in paths)


def brought_along(suite: SuiteResult, files: Sequence[FileTexts]) -> SuiteResult:
    """The suite without the tests that the change in `files` itself has added, which it may also remove."""
    old = {case.name for file in files for case in parse_tests(file.path, file.before or "").cases}
    new = {case.name for file in files for case in parse_tests(file.path, file.after or "").cases} - old
    kept = {name: outcome for name, outcome in suite.outcomes.items() if _parts(name)[1] not in new}
    if len(kept) == len(suite.outcomes):
        return suite
    return SuiteResult(outcomes=kept, whole=suite.whole)


def _tests_alone(before: SuiteResult | None, files: Sequence[FileTexts]) -> Reason | None:
    """Why a change does not touch the code: it touches only the tests that failed."""
    if not may_be_tests_only([file.path for file in files]) or any(map(_is_code, files)):
        return None
    cases = {file.path: parse_tests(file.path, file.before or "") for file in files if file.before}
    tests = [path for path, reading in cases.items() if reading.cases or reading.loose or is_snapshot(path)]
    if not tests or len(tests) < len(cases):
        return None  # a helper that tests share is code too
    failing = before.named("failed") if before is not None else ()
    hit = [path for path in tests if not failing or any(_holds(name, path, cases[path].cases) for name in failing)]
    return make_reason("tests.only", names=_names(hit)) if hit else None


def _is_code(file: FileTexts) -> bool:
    """Whether the change of a file is one of code: Rust's unit tests stand behind it in the same file."""
    if is_test(file.path) or is_snapshot(file.path):
        return False
    code = [(text or "").partition("#[cfg(test)]") for text in (file.before, file.after)]
    return not all(mark for _, mark, _ in code) or code[0][0] != code[1][0]


def _holds(name: str, path: str, cases: Sequence[Case]) -> bool:
    place, leaf = _parts(name)
    return place == path or (not place.endswith(".py") and any(case.name == leaf for case in cases))


def _difference(
    before: SuiteResult, after: SuiteResult, files: Sequence[FileTexts], tolerated: Callable[[str], bool]
) -> Reason | None:
    passed = {_stable(name) for name in after.named("passed")}
    ran = passed | {_stable(name) for name in after.named("failed")}
    unfixed = [
        name
        for name in before.named("failed")
        if _stable(name) not in (ran if tolerated(name) else passed) and not _collected(name, passed)
    ]
    gone = _gone(before, after)
    if not unfixed and not gone:
        return None
    moved = _Moved(files, [name for name in after.named("passed") if name not in before.outcomes])
    unfixed = [name for name in unfixed if not moved.takes(name)]
    gone = [name for name in gone if not moved.takes(name)]
    if unfixed:
        return _not_run(unfixed, failed=True)
    return _not_run(gone, failed=False) if gone else None


def _gone(before: SuiteResult, after: SuiteResult) -> list[str]:
    """The tests that passed before and did not run now; of those with one stem only as many as there are fewer."""
    ran = (*after.named("passed"), *after.named("failed"))
    known = {_stable(name) for name in ran}
    fewer = Counter(_stem(name) for name in (*before.named("passed"), *before.named("failed")))
    fewer.subtract(_stem(name) for name in ran)
    gone = []
    for name in before.named("passed"):
        if fewer[_stem(name)] > 0 and _stable(name) not in known:
            fewer[_stem(name)] -= 1
            gone.append(name)
    return gone


def _by_counts(before: SuiteResult, after: SuiteResult) -> Reason | None:
    assert before.counts is not None and after.counts is not None
    if after.counts.ran >= before.counts.ran:
        return None
    names = _names(name for name in before.named("failed") if after.outcomes.get(name) != "passed")
    figures = {"before": before.counts.ran, "after": after.counts.ran}
    return (
        make_reason("tests.fewer", **figures, names=names) if names else make_reason("tests.fewer.unnamed", **figures)
    )


def _collected(name: str, passed: Collection[str]) -> bool:
    """Whether a name is a file that could not be read as tests before, and of which a test has passed now."""
    return "::" not in name and any(one.startswith(f"{name}::") for one in passed)


class _Moved:
    """Finds for a test that did not run the new one that is the same: every assertion stands in its text, and it
    passed. Each new one stands for one old test."""

    def __init__(self, files: Sequence[FileTexts], new: Sequence[str]) -> None:
        self._before = [(file.path, case) for file in files for case in parse_tests(file.path, file.before or "").cases]
        self._after = [(file.path, case) for file in files for case in parse_tests(file.path, file.after or "").cases]
        self._new = list(new)

    def takes(self, name: str) -> bool:
        place, leaf = _parts(name)
        olds = [case for path, case in self._before if case.name == leaf and _is_at(place, path)]
        for old in olds:
            for path, case in self._after:
                if _whole(old, case) and self._take(path, case.name, name):
                    return True
        return False

    def _take(self, path: str, wanted: str, old: str) -> bool:
        for name in self._new:
            place, leaf = _parts(name)
            if leaf == wanted and _is_at(place, path) and _parameters(name) == _parameters(old):
                self._new.remove(name)
                return True
        return False


def _is_at(place: str, path: str) -> bool:
    """Whether a test that its runner places there may be of that file; most runners name no file."""
    return place == path or not place.endswith(".py")


def _whole(old: Case, new: Case) -> bool:
    if old.assertions:
        return not Counter(old.assertions) - Counter(new.assertions)
    return old.lines == new.lines


def _parts(name: str) -> tuple[str, str]:
    """(where the runner places a test, its own name): `tests/test_a.py::Test::test_b[1]`, `a.test.js > sums > b`."""
    bare = _NUMBERED.sub("", name.removesuffix(_parameters(name)))
    for sign in ("::", " > ", " › "):
        if sign in bare:
            return bare.partition(sign)[0], bare.rpartition(sign)[2]
    return "", bare.partition(" (")[0] if re.match(r"\w+ \([\w.]+\)$", bare) else bare


def _parameters(name: str) -> str:
    """What stands in brackets behind the name of a pytest test."""
    at = name.find("[", max(name.find("::"), 0))
    return name[at:] if at > 0 and "::" in name[:at] and name.endswith("]") else ""


def _stem(name: str) -> str:
    """The name without its parameters, which may differ from run to run."""
    return _stable(_NUMBERED.sub("", name.removesuffix(_parameters(name))))


def _stable(name: str) -> str:
    return _UNSTABLE.sub("…", name)


def _not_run(names: Sequence[str], *, failed: bool) -> Reason:
    key = "tests.not_run" if failed else "tests.gone"
    return make_reason(key, count=len(names), names=_names(names))


def _names(names: Iterable[str]) -> str:
    every = [name if len(name) <= _NAME_CHARS else name[: _NAME_CHARS - 1] + "…" for name in names]
    return ", ".join(every[:_NAMED]) + (f", … (+{len(every) - _NAMED})" if len(every) > _NAMED else "")
