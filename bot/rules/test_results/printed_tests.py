"""Reads the tests that a runner names in what it prints, and the figures that it sums up with.
Names count as the whole list only where the runner's own figures agree: other tools print ticks too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bot.model import SuiteCounts
from bot.rules.test_results.suite_result import CaseOutcome, SuiteResult, by_id, by_order, joined

_Found = tuple[str, CaseOutcome]

_WORDS: dict[str, CaseOutcome] = {
    **dict.fromkeys(("PASSED", "XPASS", "ok", "PASS", "passed", "passing"), "passed"),
    **dict.fromkeys(("FAILED", "ERROR", "FAIL", "failed", "failing", "error", "errors", "cancelled"), "failed"),
    **dict.fromkeys(("SKIPPED", "XFAIL", "SKIP", "ignored", "skipped", "pending", "todo", "xfailed"), "skipped"),
}


@dataclass(frozen=True, slots=True)
class PrintedTests:
    """The tests that a log names or counts. Those of pytest stand apart: they may be known from elsewhere."""

    pytest: SuiteResult = field(default_factory=SuiteResult)
    others: tuple[SuiteResult, ...] = ()
    figures: SuiteCounts = field(default_factory=SuiteCounts)
    """The last `3 passed` and `1 failed` of the log, for a runner that has no reader here."""

    def result(self, *, without_pytest: bool = False) -> SuiteResult | None:
        """None where the log names none and counts none."""
        return joined(self.others if without_pytest else (self.pytest, *self.others))

    @property
    def counts(self) -> SuiteCounts:
        """The runner's own figures, for people."""
        found = self.result()
        return found.counts if found is not None and found.counts is not None else self.figures


def printed_tests(lines: Sequence[str]) -> PrintedTests:
    """The tests that ran, of a log (`log_lines.log_lines`)."""
    readers = (_unittest, _go, _cargo, _tap, _ticked)
    return PrintedTests(_pytest(lines), tuple(reader(lines) for reader in readers), _figures(lines))


_PASSED = re.compile(r"\b(\d{1,9}) passed\b")
_FAILED = re.compile(r"\b(\d{1,9}) failed\b")


def _figures(lines: Sequence[str]) -> SuiteCounts:
    last = [
        next((found[-1] for line in reversed(lines) if word in line and (found := pattern.findall(line))), None)
        for word, pattern in ((" passed", _PASSED), (" failed", _FAILED))
    ]
    return SuiteCounts(passed=int(last[0] or 0), failed=int(last[1] or 0))


_PYTEST = re.compile(
    r"^(?:\[gw\d+\] \[ *\d+%\] )?(?P<early>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (?P<second>[^\s:]+\.py::.+)$"
    r"|^(?P<first>[^\s:]+\.py::.+?) (?P<late>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b"
)
_PYTEST_SUM = re.compile(r"^(?:=+ )?(?P<sums>(?:\d+ [a-z]+,? ?(?:in )?)+)[\d.]+s\b")
_SUM = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed)\b")


def _pytest(lines: Sequence[str]) -> SuiteResult:
    found: list[_Found] = []
    sums: list[tuple[int, str]] = []
    for line in lines:
        match = _PYTEST.match(line)
        if match is not None:
            # the short summary gives the reason after a dash
            name = match["first"] or match["second"].partition(" - ")[0]
            found.append((name, _WORDS[match["early"] or match["late"]]))
        elif " in " in line and (total := _PYTEST_SUM.match(line)) is not None:
            sums += [(int(number), word) for number, word in _SUM.findall(total["sums"])]
    return _with_counts(by_id(found), _summed(sums))


_UNITTEST = re.compile(
    r"^(?P<name>\w+ \([\w.]+\)).* \.\.\. (?P<how>ok|FAIL|ERROR|skipped|expected failure|unexpected success)\b"
)
_UNITTEST_FAILED = re.compile(r"^(?:FAIL|ERROR): (?P<name>\w+ \([\w.]+\))")
_UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in ")
_UNITTEST_END = re.compile(r"^(?:OK|FAILED)(?: \((?P<sums>[^)]*)\))?$")


def _unittest(lines: Sequence[str]) -> SuiteResult:
    found: list[_Found] = []
    ran = bad = skipped = 0
    for line in lines:
        if (match := _UNITTEST.match(line)) is not None:
            how: CaseOutcome = "passed" if match["how"] == "ok" else _WORDS.get(match["how"], "skipped")
            found.append((match["name"], how))
        elif (match := _UNITTEST_FAILED.match(line)) is not None:
            found.append((match["name"], "failed"))
        elif (match := _UNITTEST_RAN.match(line)) is not None:
            ran += int(match[1])
        elif ran and (match := _UNITTEST_END.match(line)) is not None:
            sums = {name: int(number) for name, number in re.findall(r"([a-z ]+)=(\d+)", match["sums"] or "")}
            bad += sums.get("failures", 0) + sums.get(" errors", 0) + sums.get("errors", 0)
            skipped += sums.get("skipped", 0) + sums.get(" skipped", 0)
    counts = SuiteCounts(passed=max(0, ran - bad - skipped), failed=bad, skipped=skipped) if ran else None
    return _with_counts(by_id(found), counts)


_GO = re.compile(r"^\s*--- (?P<how>PASS|FAIL|SKIP): (?P<name>\S.*) \(\d[\d.]*s\)$")


def _go(lines: Sequence[str]) -> SuiteResult:
    found = [(match["name"], _WORDS[match["how"]]) for match in map(_GO.match, lines) if match is not None]
    # without -v it names what failed and nothing else
    verbose = any(outcome == "passed" for _, outcome in found)
    return SuiteResult(outcomes=by_order(found), whole=verbose)


_CARGO = re.compile(r"^test (?P<name>\S.*?)(?: - should panic)? \.\.\. (?P<how>ok|FAILED|ignored)\b")
_CARGO_SUM = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;")


def _cargo(lines: Sequence[str]) -> SuiteResult:
    found = [(match["name"], _WORDS[match["how"]]) for match in map(_CARGO.match, lines) if match is not None]
    sums = [tuple(map(int, match.groups())) for match in map(_CARGO_SUM.match, lines) if match is not None]
    words = ("passed", "failed", "ignored")
    counts = _summed([pair for one in sums for pair in zip(one, words, strict=True)])
    return _with_counts(SuiteResult(outcomes=by_order(found)), counts)


_TAP = re.compile(r"^(?P<indent> *)(?P<how>ok|not ok)\b(?: \d+)?(?: -)?(?P<name>.*)$")
_TAP_DIRECTIVE = re.compile(r"\s*#\s*(?:skip|todo)\b.*$", re.IGNORECASE)
_TAP_START = re.compile(r"^TAP version \d+|^1\.\.\d+$")
_TAP_SUM = re.compile(r"^# (tests|pass|fail|ok|skipped|cancelled|todo) +(\d+)$")


def _tap(lines: Sequence[str]) -> SuiteResult:
    if not any(_TAP_START.match(line) for line in lines):
        return SuiteResult()
    found: list[_Found] = []
    heading, below = "", 0
    suites: SuitesAround = SuitesAround()
    sums: dict[str, int] = {}
    for line in lines:
        if (total := _TAP_SUM.match(line)) is not None:
            sums[total[1]] = sums.get(total[1], 0) + int(total[2])
        elif line.startswith("# ") and not line.startswith("# Subtest"):
            heading = line[2:]  # tape's and tap's names of tests, below which each assertion is a line
        match = _TAP.match(line)
        if match is None:
            continue
        name = _TAP_DIRECTIVE.sub("", match["name"]).strip()
        outcome: CaseOutcome = "passed" if match["how"] == "ok" else "failed"
        if name != match["name"].strip():
            outcome = "skipped"
        below += 1
        if not suites.ends(len(match["indent"])):
            under = f"{heading} > {name}" if heading and not match["indent"] else name
            found.append((under or f"test {below}", outcome))
    failed = sums.get("fail", 0) + sums.get("cancelled", 0)
    skipped = sums.get("skipped", 0) + sums.get("todo", 0)
    counts = SuiteCounts(passed=sums.get("pass", 0) + sums.get("ok", 0), failed=failed, skipped=skipped)
    named = SuiteResult(outcomes=by_order(found), whole=True)
    return _with_counts(named, counts if sums else None, groups=suites.passed)


class SuitesAround:
    """Distinguishes the line of a suite from that of a test: it comes after lines that are indented further."""

    def __init__(self) -> None:
        self._open: list[int] = []
        self.passed = 0

    def ends(self, indent: int) -> bool:
        """Whether a result at this indentation sums up those before it."""
        around = False
        while self._open and self._open[-1] > indent:
            self._open.pop()
            around = True
        if not self._open or self._open[-1] < indent:
            self._open.append(indent)
        self.passed += around
        return around


_TICK = re.compile(r"^(?P<indent>\s*)(?P<mark>[✔✓√✖✗✘×✕﹣○↓▶]|\d{1,5}\)|-)\s+(?P<name>\S.*)$")
_TOOK = re.compile(r"\s+\(?\d[\d.]*\s?m?s\)?(?P<rest>\s+#.*)?$")
_NOTED = re.compile(r"\s*# (?:SKIP|TOD[O])\b.*$")
_AVA = re.compile(r"^\[(?:fail|skip|todo)\]: | (?:Error thrown in test|Rejected promise returned by test)$")
_FILE = re.compile(r"\(\d+ tests?\b[^)]*\)")
_REPEATED = re.compile(
    r"^✖ failing tests:|⎯ Failed (?:Tests|Suites) \d+|^Summary of all failing tests|^\s*\d+ (?:passing|failing)\b|^ +● "
)
_TICK_SUM = re.compile(
    r"^ℹ (?P<what>pass|fail|cancelled|skipped|todo) (?P<count>\d+)$"
    r"|^\s*(?P<number>\d+) (?P<word>passing|failing|pending)\b"
    r"|^\s*(?P<ava>\d+) tests? (?P<how>passed|failed|skipped|todo)$"
    # one that counts failures alone doesn't show how many tests ran
    r"|^\s*Tests:?\s+(?P<listed>(?=.*(?:\bpassed\b|\btotal\b|\(\d+\)))\d+ \w+.*)$"
)
_LISTED = re.compile(r"(\d+) (passed|failed|skipped|todo|pending)\b")
_TICKED: dict[str, CaseOutcome] = {
    **dict.fromkeys("✔✓√", "passed"),
    **dict.fromkeys("✖✗✘×✕", "failed"),
    **dict.fromkeys("﹣○↓-", "skipped"),
}
_NODE = {"pass": "passed", "fail": "failed"}


def _ticked(lines: Sequence[str]) -> SuiteResult:
    """Mocha, Jest, Vitest, AVA and node's own runner: a tick or a cross before each name."""
    sums = list(_tick_sums(lines))
    counts = _summed(sums)
    if counts is None:
        return SuiteResult()
    suites: set[tuple[int, str]] = set()
    found: list[_Found] = []
    groups = 0
    for line in lines:
        if _REPEATED.search(line):
            break
        match = _TICK.match(line)
        if match is None or _FILE.search(match["name"]):
            continue
        key = len(match["indent"]), _AVA.sub("", _NOTED.sub("", _TOOK.sub("", match["name"]))).strip()
        if match["mark"] == "▶":
            suites.add(key)
        elif key in suites:
            groups += 1
        else:
            outcome = "failed" if match["mark"].endswith(")") else _TICKED[match["mark"]]
            found.append((key[1], "skipped" if _NOTED.search(match["name"]) else outcome))
    return _with_counts(SuiteResult(outcomes=by_order(found)), counts, groups=groups)


def _tick_sums(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    for line in lines:
        match = _TICK_SUM.match(line)
        if match is None:
            continue
        if match["listed"]:
            yield from ((int(number), word) for number, word in _LISTED.findall(match["listed"]))
        elif match["what"]:
            yield int(match["count"]), _NODE.get(match["what"], match["what"])
        else:
            yield int(match["number"] or match["ava"]), match["word"] or match["how"]


def _summed(sums: Sequence[tuple[int, str]]) -> SuiteCounts | None:
    if not sums:
        return None
    totals: dict[CaseOutcome, int] = {"passed": 0, "failed": 0, "skipped": 0}
    for number, word in sums:
        totals[_WORDS.get(word, "passed")] += number
    return SuiteCounts(**totals)


def _with_counts(named: SuiteResult, counts: SuiteCounts | None, *, groups: int = 0) -> SuiteResult:
    """The names with the runner's figures; they are the whole list where as many passed as it counts. Of the passes it
    counts `groups` may be tests around others, which are not named."""
    if counts is None:
        return named.model_copy(update={"whole": named.whole and bool(named.named("passed"))})
    passed = len(named.named("passed"))
    whole = bool(named.outcomes) and passed <= counts.passed <= passed + groups
    return named.model_copy(update={"counts": counts, "whole": whole})
