"""*Proof*: how many wrong changes whose checks stay green Mendbot calls proven, and how many right ones it does not.

`python -m benchmarks.proof [--verify] [--bot DIR] [--only NAME…] [--json FILE [--saved]]`: `--verify` checks the labels
of the cases by their hidden tests, `--bot` measures another checkout of Mendbot, which needs its own `.venv`."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, get_args

from benchmarks.proof_case import Case, Change, halved, program_cases
from benchmarks.proof_derived import lost_tests
from benchmarks.proof_releases import release_cases
from benchmarks.proof_session import Level, Outcome, own_bot, run
from benchmarks.proof_suite import Suite, problems, toolchain
from benchmarks.result import Result, Row, as_table, percentile

_GOAL_WRONG = 0.8
_GOAL_RIGHT = 0.1
_AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class Size:
    """`only` are words of which a case's name must hold one; all cases without any. `at_once` sessions run together."""

    only: tuple[str, ...] = ()
    releases: bool = True
    at_once: int = _AT_ONCE
    bot: Path | None = None


def main(arguments: Sequence[str]) -> int:
    """Measure or verify, and print; 0 where no goal is missed and no label is wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.proof", description="which changes are called proven")
    parser.add_argument("--verify", action="store_true", help="check the labels of the cases instead")
    parser.add_argument("--bot", type=Path, metavar="DIR", help="a checkout of Mendbot with its .venv; this one else")
    parser.add_argument("--only", nargs="+", default=(), metavar="NAME", help="cases whose names hold one of these")
    parser.add_argument("--programs", action="store_true", help="leave out the cases from releases")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="add each outcome there; those it has are not repeated"
    )
    parser.add_argument(
        "--saved", action="store_true", help="report the outcomes of that file alone, and run no session"
    )
    options = parser.parse_args(arguments)
    if options.saved and not options.json:
        parser.error("--saved needs --json FILE")
    size = Size(tuple(options.only), not options.programs, bot=options.bot and options.bot.resolve())
    if options.verify:
        return _verify(size)
    outcomes = reread(size, options.json) if options.saved else play(size, options.json)
    result = report(outcomes, Suite(toolchain()))
    print(as_table(result))
    return 0 if all(row.met is not False for row in result.rows) else 1


def measure(size: Size) -> Result:
    """Give every change of every case to Mendbot."""
    return report(play(size), Suite(toolchain()))


def chosen(size: Size) -> list[Case]:
    """The cases of a size. The halves don't depend on it."""
    cases = halved([*program_cases(), *(release_cases(Suite(toolchain())) if size.releases else ())])
    return [case for case in cases if not size.only or any(word in case.name for word in size.only)]


def play(size: Size, saved: Path | None = None) -> list[Outcome]:
    """The outcomes of all changes, in the order of the cases. Each is added to the file at once."""
    work = [(case, change) for case in chosen(size) for change in case.changes]
    known = _known(saved)
    bot, tools, done = size.bot or own_bot(), toolchain(), count(1)
    local = threading.local()
    with tempfile.TemporaryDirectory(prefix="mendbot-bench-") as where:

        def one(pair: tuple[Case, Change]) -> Outcome:
            if (found := known.get((pair[0].name, pair[1].kind))) is not None:
                return Outcome.from_json(*pair, found)
            if not hasattr(local, "home"):
                local.home = Path(tempfile.mkdtemp(prefix="home-", dir=where))
            outcome = run(*pair, bot=bot, home=local.home, tools=tools)
            name = f"{outcome.case.name}, {outcome.change.kind}"
            sys.stderr.write(f"  {next(done)}/{len(work)} {name}: {outcome.level}, {outcome.seconds:.1f} s\n")
            if saved is not None:
                with saved.open("a") as file:
                    file.write(json.dumps(outcome.as_json()) + "\n")
            return outcome

        with ThreadPoolExecutor(size.at_once) as pool:
            return list(pool.map(one, work))


def reread(size: Size, saved: Path) -> list[Outcome]:
    """The outcomes of a file, without those of changes that no case has any more."""
    known = _known(saved)
    pairs = [(case, change) for case in chosen(size) for change in case.changes]
    return [Outcome.from_json(*pair, known[key]) for pair in pairs if (key := (pair[0].name, pair[1].kind)) in known]


def _known(saved: Path | None) -> dict[tuple[str, str], dict[str, Any]]:
    """The saved outcomes, by case and kind."""
    lines = saved.read_text().splitlines() if saved is not None and saved.exists() else ()
    return {(each["name"], each["kind"]): each for each in map(json.loads, lines)}


def report(outcomes: Sequence[Outcome], suite: Suite) -> Result:
    """The rows of the outcomes. Each change that was called proven is examined by the bench's own runs."""
    wrong = [outcome for outcome in outcomes if not outcome.change.right]
    right = [outcome for outcome in outcomes if outcome.change.right]
    plain = [outcome for outcome in wrong if not outcome.change.misleading]
    claims = [outcome for outcome in outcomes if outcome.level == "proven"]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        shown = list(pool.map(lambda outcome: suite.shows(outcome.case, outcome.change), claims))
    false = [outcome for outcome, is_shown in zip(claims, shown, strict=True) if not is_shown]
    rows = [
        Row("wrong changes held back from proven", _held(wrong), "", "at least", _GOAL_WRONG),
        Row("right changes held back from proven", _held(right), "", "at most", _GOAL_RIGHT),
        Row("called proven, and no test fails without the change", len(false), "", "at most", 0),
        Row("wrong changes without a misleading test, held back", _held(plain)),
        Row("wrong changes with a misleading test, held back", _held(o for o in wrong if o.change.misleading)),
        Row("right changes with a test, held back", _held(o for o in right if o.change.kind == "right")),
        Row(
            "right changes that delete no test, held back", _held(o for o in right if not lost_tests(o.case, o.change))
        ),
        *_both("half {}", ("a", "b"), outcomes, lambda outcome: outcome.case.half),
        *_both("{}", _values(outcomes, _language), outcomes, _language),
        *_both("from a {}", _values(outcomes, _source), outcomes, _source),
        *_both("{} base", _values(outcomes, _base), outcomes, _base),
        *_levels("wrong", wrong),
        *_levels("right", right),
        *_kinds(wrong),
        Row("a session, median", percentile([outcome.seconds for outcome in outcomes], 0.5), "s"),
        Row("a session, p95", percentile([outcome.seconds for outcome in outcomes], 0.95), "s"),
    ]
    return Result("proof", 1, tuple(rows), tuple(_notes(outcomes, false)))


def _verify(size: Size) -> int:
    """Print what is not true of the labels."""
    suite, cases = Suite(toolchain()), chosen(size)
    with ThreadPoolExecutor(size.at_once) as pool:
        found = list(pool.map(lambda case: problems(case, suite), cases))
    for case, lines in zip(cases, found, strict=True):
        for line in lines:
            print(f"{case.name}: {line}")
    changes = sum(len(case.changes) for case in cases)
    print(f"{len(cases)} cases with {changes} changes, {sum(map(len, found))} labels that are not true")
    return 1 if any(found) else 0


def _language(outcome: Outcome) -> str:
    return outcome.case.language


def _source(outcome: Outcome) -> str:
    return outcome.case.source


def _base(outcome: Outcome) -> str:
    return outcome.case.base


def _values(outcomes: Iterable[Outcome], by: Callable[[Outcome], str]) -> list[str]:
    return sorted({by(outcome) for outcome in outcomes})


def _share(outcomes: Iterable[Outcome], holds: Callable[[Outcome], bool]) -> float:
    every = [holds(outcome) for outcome in outcomes]
    return sum(every) / len(every) if every else float("nan")


def _held(outcomes: Iterable[Outcome]) -> float:
    return _share(outcomes, lambda outcome: outcome.level != "proven")


def _both(name: str, values: Iterable[str], outcomes: Sequence[Outcome], by: Callable[[Outcome], str]) -> Iterator[Row]:
    """The two shares for each value that `by` gives."""
    for value in values:
        mine = [outcome for outcome in outcomes if by(outcome) == value]
        yield Row(f"{name.format(value)}: wrong held back", _held(o for o in mine if not o.change.right))
        yield Row(f"{name.format(value)}: right held back", _held(o for o in mine if o.change.right))


def _levels(name: str, outcomes: Sequence[Outcome]) -> Iterator[Row]:
    levels = Counter(outcome.level for outcome in outcomes)
    yield from (Row(f"{name} changes: {level}", levels[level], f"of {len(outcomes)}") for level in get_args(Level))


def _kinds(wrong: Sequence[Outcome]) -> Iterator[Row]:
    for kind in sorted({outcome.change.kind for outcome in wrong}):
        mine = [outcome for outcome in wrong if outcome.change.kind == kind]
        yield Row(f"wrong, {kind}: held back", sum(o.level != "proven" for o in mine), f"of {len(mine)}")


def _notes(outcomes: Sequence[Outcome], false: Sequence[Outcome]) -> Iterator[str]:
    cases = {outcome.case.name: outcome.case for outcome in outcomes}
    sources = Counter(case.source for case in cases.values())
    parts = ", ".join(f"{number} from a {source}" for source, number in sorted(sources.items()))
    yield f"{len(outcomes)} changes in {len(cases)} cases ({parts}), one right change each."
    yield "A misleading test fails on the base and asks for the wrong thing or for too little: no run can recognize it."
    yield "Rules may be tuned on half a, never on half b."
    for outcome in false:
        yield f"Called proven and not shown: {outcome.case.name}, {outcome.change.kind}."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
