"""Failed tests in the logs of `cargo test`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from bot.rules.test_runners.sections import MAX_TESTS, Section, last_before, matching, single, summary_line, until

_CARGO = re.compile(r"---- (?P<name>.+) std(?:out|err) ----$")
_CARGO_END = re.compile(r"---- .+ std(?:out|err) ----$|failures:$|test result: ")
_CARGO_RAN = re.compile(r"test (?P<name>.+?)(?: - should panic)? \.\.\. FAILED$")
_CARGO_TARGET = re.compile(r"\s+Running (?:unittests )?(?P<file>\S+) \(|\s+Doc-tests ")
_PANICKED = re.compile(r"(?:thread '.*' (?:\(\d+\) )?)?panicked at (?:'(?P<message>.*)', )?")
_CARGO_NOISE = re.compile(r"(?:note: |stack backtrace:|Test executable failed|std(?:err|out):$)")


def read_cargo(lines: Sequence[str]) -> Iterator[Section]:
    """By the target's file, where there are several, and the path of modules."""
    ran = list(islice(matching(lines, _CARGO_RAN, "... FAILED"), MAX_TESTS))
    targets = {at: found["file"] or "" for at, found in matching(lines, _CARGO_TARGET, "  ")}
    many = len({file for file in targets.values() if file}) > 1
    above = list(targets)
    reported = set()
    for at, found in islice(matching(lines, _CARGO, "---- "), MAX_TESTS):
        end = until(lines, at, _CARGO_END)
        name = _cargo_name(found["name"], at, targets if many else {}, above)
        reported.add(name)
        yield Section(name, _cargo_message(lines[at + 1 : end]), range(at, end))
    for at, found in ran:
        name = _cargo_name(found["name"], at, targets if many else {}, above)
        yield single(at) if name in reported else Section(name, "", range(at, at + 1))


def _cargo_name(name: str, at: int, targets: Mapping[int, str], above: Sequence[int]) -> str:
    file = targets.get(last_before(at, above) or 0, "")
    return f"{file} › {name}" if file else name


def _cargo_message(lines: Sequence[str]) -> str:
    for at, line in enumerate(lines):
        panicked = _PANICKED.match(line)
        if panicked is not None:
            return panicked["message"] or summary_line(
                below for below in lines[at + 1 :] if not _CARGO_NOISE.match(below)
            )
    return summary_line(line for line in lines if not _CARGO_NOISE.match(line))
