"""*Fingerprints*: whether an error keeps its text on another machine and day, and whether two errors keep apart.
Real lines of recorded logs are changed in what depends on the machine, or in what makes them the error they are."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.result import Result, Row
from bot.rules.failures.normalize import loose_key, normalize_error

_FIXTURES = Path(__file__).parents[1] / "fixtures"
_TELLS = re.compile(
    r"error|fail|assert|expect|panic|exception|warning|undefined|cannot|✖|✗|●|:\d+:\d+|\bTS\d{4}\b", re.I
)

_DIRECTORIES = re.compile(r"(?<![\w./@\\:-])((?:/|\./|\.\./)?(?:[\w.@+-]+/)+)(?=[\w@+-]+\.[A-Za-z]{1,5}\b)")
_POSITION = re.compile(
    r"(?<=\.)([a-z]{1,5})(:\d+(?::\d+)?\b|\(\d+,\d+\))|\b(?i:end)?(?i:line|col|column)[ =]\d+|^(\s*)\d+:\d+(?=\s)"
)
_DURATION = re.compile(r"\b\d+(?:\.\d+)?( ?)(ms|s|seconds)\b")
_CODE = re.compile(r"\b([A-Z]{1,4}\d{2,4})(\d)\b")
_QUOTED = re.compile(r"(['\"`])(\w[\w.]*)\1")
_NUMBER = re.compile(
    r"((?:==|!=|got|want|expected|received|Expected:|Received:|than|left:|right:|assert) )(-?\d{1,3})\b"
)
_BASE_NAME = re.compile(r"\b([A-Za-z_]\w*)(\.(?:py|ts|tsx|js|go|rs|java))\b")
_WORD = re.compile(r"\b([A-Za-z]{4,})\b(?![./:(\d]|[\w.@+-]*/)")  # no part of a directory's name

Change = Callable[[str, random.Random], str | None]
"""The line changed in one way; None where it has nothing of the kind."""


@dataclass(frozen=True, slots=True)
class Size:
    """Every line so often in every way; the same pairs for the same seed."""

    rounds: int = 5
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Figures:
    """Pairs tried, and those that went wrong, as (way, one, other)."""

    pairs: int
    wrong: tuple[tuple[str, str, str], ...]

    @property
    def share(self) -> float:
        """Of the pairs that went wrong, in per cent."""
        return 100 * len(self.wrong) / self.pairs if self.pairs else 0.0


def recorded_lines() -> tuple[str, ...]:
    """The lines of the recorded traces and logs that tell of an error, each once."""
    outputs = [
        step["output"]
        for path in sorted((_FIXTURES / "traces").glob("*.json"))
        for step in json.loads(path.read_text(encoding="utf-8"))["steps"]
    ]
    outputs += [path.read_text(encoding="utf-8") for path in sorted((_FIXTURES / "logs").rglob("*.log"))]
    return telling_lines(outputs)


def telling_lines(outputs: Iterable[str]) -> tuple[str, ...]:
    """The lines of outputs that tell of an error, in order, each once."""
    lines = (line.rstrip() for output in outputs for line in output.splitlines())
    return tuple(dict.fromkeys(line for line in lines if len(line) > 8 and _TELLS.search(line)))


def stability(lines: Sequence[str], size: Size, key: Callable[[str], str] = normalize_error) -> Figures:
    """Pairs of one error as two machines print it: wrong where the key differs."""
    return _compare(lines, size, _SAME, lambda one, other: key(one) == key(other))


def merging(lines: Sequence[str], size: Size, key: Callable[[str], str] = normalize_error) -> Figures:
    """Pairs of a line and another error that looks like it: wrong where the key is the same."""
    return _compare(lines, size, _OTHER, lambda one, other: key(one) != key(other))


def measure(size: Size) -> Result:
    """Both figures for the exact key, beside keeping every character and masking every number."""
    lines = recorded_lines()
    stable, merged = stability(lines, size), merging(lines, size)
    rows = [
        Row("exact key: stable", 100 - stable.share, "%", "at least", 99.5),
        Row("exact key: wrongly merged", merged.share, "%", "at most", 0.5),
    ]
    for name, key in (("loose key", loose_key), ("every number masked", _numberless), ("the line as it is", str.strip)):
        rows.append(Row(f"{name}: stable", 100 - stability(lines, size, key).share, "%"))
        rows.append(Row(f"{name}: wrongly merged", merging(lines, size, key).share, "%"))
    notes = (
        f"{len(lines)} lines of real tools' logs; {stable.pairs} pairs of one error, {merged.pairs} of two.",
        "The loose key masks quoted names and numbers on purpose; it is asked where the exact one finds nothing.",
    )
    return Result("fingerprints", 1, tuple(rows), notes)


def _compare(
    lines: Sequence[str], size: Size, ways: Mapping[str, Change], right: Callable[[str, str], bool]
) -> Figures:
    rng = random.Random(size.seed)
    pairs, wrong = 0, []
    for line in lines:
        for way, change in ways.items():
            for _ in range(size.rounds):
                # what is inserted must stand on both sides: one value there, another here
                one = change(line, rng) if way in _INSERTED else line
                other = change(line, rng)
                if one is None or other is None or one == other:
                    continue
                pairs += 1
                if not right(one, other):
                    wrong.append((way, one, other))
    return Figures(pairs, tuple(wrong))


def _numberless(line: str) -> str:
    return re.sub(r"\d+", "<N>", line.strip())


def _name(rng: random.Random) -> str:
    return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 9)))


def _digits(rng: random.Random, most: int) -> str:
    return str(rng.randint(1, 10 ** rng.randint(1, most) - 1))


def _hex(rng: random.Random, count: int) -> str:
    return "".join(rng.choices("0123456789abcdef", k=count))


def _swap(pattern: re.Pattern[str], replace: Callable[[re.Match[str], random.Random], str]) -> Change:
    def change(line: str, rng: random.Random) -> str | None:
        changed, count = pattern.subn(lambda match: replace(match, rng), line)
        return changed if count else None

    return change


def _directories(match: re.Match[str], rng: random.Random) -> str:
    depth = "/".join(_name(rng) for _ in range(rng.randint(1, 4)))
    roots = ("/home/", "/srv/", "/builds/", "/Users/", "/var/lib/") if match[1].startswith("/") else ("", "./", "../")
    return f"{rng.choice(roots)}{depth}/"


def _position(match: re.Match[str], rng: random.Random) -> str:
    return re.sub(r"\d+", lambda _: _digits(rng, 4), match[0])


def _first(pattern: re.Pattern[str], replace: Callable[[re.Match[str], random.Random], str]) -> Change:
    def change(line: str, rng: random.Random) -> str | None:
        found = pattern.search(line)
        return None if found is None else line[: found.start()] + replace(found, rng) + line[found.end() :]

    return change


def _inserted(template: Callable[[random.Random], str], before: bool = False) -> Change:
    return lambda line, rng: f"{template(rng)} {line.strip()}" if before else f"{line} {template(rng)}"


def _clock(rng: random.Random) -> str:
    day = f"20{rng.randint(10, 40)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
    time = f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}"
    return rng.choice((f"{day}T{time}.{rng.randint(0, 999):03}Z", f"[{day} {time}]", f"[{time}]"))


def _coloured(line: str, rng: random.Random) -> str | None:
    return " ".join(
        f"\x1b[{rng.randint(31, 37)}m{word}\x1b[0m" if rng.random() < 0.5 else word for word in line.split()
    )


def _other_digit(match: re.Match[str], rng: random.Random) -> str:
    return f"{match[1]}{(int(match[2]) + rng.randint(1, 9)) % 10}"


def _uuid(rng: random.Random) -> str:
    return "-".join(_hex(rng, count) for count in (8, 4, 4, 4, 12))


_SAME: Mapping[str, Change] = {
    "directories": _swap(_DIRECTORIES, _directories),
    "positions": _swap(_POSITION, _position),
    "durations": _swap(_DURATION, lambda match, rng: f"{_digits(rng, 3)}.{_digits(rng, 2)}{match[1]}{match[2]}"),
    "address": _inserted(lambda rng: f"<shop.Cart object at 0x7f{_hex(rng, 10)}>"),
    "uuid": _inserted(lambda rng: f"job {_uuid(rng)}"),
    "commit": _inserted(lambda rng: f"commit {rng.choice('abcdef')}{rng.randint(0, 9)}{_hex(rng, 38)}"),
    "temporary": _inserted(lambda rng: f"in '/tmp/{_name(rng)}{_digits(rng, 4)}/{_name(rng)}/data.json'"),
    "temporary directory": _inserted(lambda rng: f"in /tmp/{_name(rng)}-{_digits(rng, 5)}"),
    "took": _inserted(lambda rng: f"(took {_digits(rng, 4)} ms)"),
    "clock": _inserted(_clock, before=True),
    "process": _inserted(lambda rng: f"(pid {_digits(rng, 5)})"),
    "colours": _coloured,
}
_INSERTED = frozenset(_SAME) - {"directories", "positions", "durations", "colours"}
_OTHER: Mapping[str, Change] = {
    "code": _first(_CODE, _other_digit),
    "quoted name": _first(_QUOTED, lambda match, rng: f"{match[1]}{match[2]}{_name(rng)}{match[1]}"),
    "number": _first(_NUMBER, lambda match, rng: f"{match[1]}{int(match[2]) + rng.randint(1, 500)}"),
    "base name": _first(_BASE_NAME, lambda match, rng: f"{match[1]}_{_name(rng)}{match[2]}"),
    "word": _first(_WORD, lambda match, rng: f"{match[1]}{_name(rng)}"),
}
