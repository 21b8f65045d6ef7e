"""What models do to a diff: each kind takes a right diff and gives one that means the same and is written wrong.
A kind that cannot be had from a diff gives None; the right result is known for each, and changed only where the
file itself is another one (its line ends, its tabs)."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from benchmarks.releases import Case, Hunk, spliced

BARE = "\\ No newline at end of file"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A diff as a model would write it. `eol` ends the diff's lines; `bare` context lines lack their marker."""

    before: str
    after: str
    hunks: tuple[Hunk, ...]
    others: tuple[Hunk, ...]
    eol: str = "\n"
    blunt: bool = False

    @property
    def patch(self) -> str:
        lines = ["--- a/file", "+++ b/file"]
        for hunk in self.hunks:
            old, new = hunk.counts
            said = f"-{hunk.starts[0]},{old} +{hunk.starts[1]},{new}" if hunk.starts else "..."
            lines += [f"@@ {said} @@ {hunk.section}".rstrip() if hunk.starts else "@@ ... @@", *hunk.lines]
        return self.eol.join(lines) + self.eol


Kind = Callable[[Mutant, random.Random], Mutant | None]


def of(case: Case) -> Mutant:
    return Mutant(case.before, case.after, case.hunks, case.others)


def determinable(mutant: Mutant) -> bool:
    """False where a hunk's lines fit more than one place of the file, white space aside, and its header is wrong:
    nobody could tell then. (That a hunk which lacks a line could go to several places isn't seen here.)"""
    lines = [_key(line) for line in mutant.before.splitlines()]
    for hunk in mutant.hunks:
        old = [_key(line) for line in hunk.old]
        places = [at for at in range(len(lines) - len(old) + 1) if lines[at : at + len(old)] == old]
        if not old or (len(places) > 1 and (hunk.starts is None or hunk.starts[0] - 1 != hunk.at)):
            return False
    return True


def _key(line: str) -> str:
    return "".join(line.split())


def _each(mutant: Mutant, change: Callable[[Hunk], Hunk]) -> Mutant | None:
    hunks = tuple(map(change, mutant.hunks))
    return None if hunks == mutant.hunks else replace(mutant, hunks=hunks)


def _none(mutant: Mutant, rng: random.Random) -> Mutant | None:
    return mutant


def _counts(mutant: Mutant, rng: random.Random) -> Mutant | None:
    def change(hunk: Hunk) -> Hunk:
        old, new = hunk.counts
        wrong = rng.choice(((1, 1), (-1, -1), (2, 0), (0, 1), (-2, 1), (0, -1), (5, 5)))
        return replace(hunk, counts=(max(1, old + wrong[0]), max(1, new + wrong[1])))

    return _each(mutant, change)


def _numbers(mutant: Mutant, rng: random.Random) -> Mutant | None:
    def change(hunk: Hunk) -> Hunk:
        assert hunk.starts
        off = rng.choice((-1, 1)) * rng.choice((1, 2, 3, rng.randint(4, 40), rng.randint(40, 400)))
        return replace(hunk, starts=(max(1, hunk.starts[0] + off), max(1, hunk.starts[1] + off)))

    return _each(mutant, change)


def _numberless(mutant: Mutant, rng: random.Random) -> Mutant | None:
    return _each(mutant, lambda hunk: replace(hunk, starts=None))


def _short(mutant: Mutant, rng: random.Random) -> Mutant | None:
    def change(hunk: Hunk) -> Hunk:
        changed = [at for at, line in enumerate(hunk.lines) if line[:1] != " "]
        keep = rng.choice((0, 1, 1, 2))
        first, end = max(0, changed[0] - keep), min(len(hunk.lines), changed[-1] + 1 + rng.choice((keep, keep, 1)))
        if not any(line[:1] != "+" for line in hunk.lines[first:end]):
            first, end = max(0, first - 1), end + 1
        return replace(hunk, at=hunk.at + first, lines=hunk.lines[first:end])

    return _each(mutant, change)


def _lost(mutant: Mutant, rng: random.Random) -> Mutant | None:
    def change(hunk: Hunk) -> Hunk:
        context = [at for at, line in enumerate(hunk.lines) if line[:1] == " "]
        # what stands beside added lines and is left out takes their place with it, and so does one of two like it
        beside = {at: (*hunk.lines[max(0, at - 1) : at], *hunk.lines[at + 1 : at + 2]) for at in context}
        sure = [at for at in context if not any(line[:1] == "+" or line == hunk.lines[at] for line in beside[at])]
        if not sure or len(context) < 2:
            return hunk
        gone = rng.choice(sure)
        return replace(hunk, at=hunk.at + (gone == 0), lines=hunk.lines[:gone] + hunk.lines[gone + 1 :])

    return _each(mutant, change)


def _misremembered(mutant: Mutant, rng: random.Random) -> Mutant | None:
    def change(hunk: Hunk) -> Hunk:
        wordy = [at for at, line in enumerate(hunk.lines) if line[:1] == " " and re.search(r"\w{4}", line)]
        if not wordy:
            return hunk
        at = rng.choice(wordy)
        wrong = re.sub(r"\w{4,}", lambda word: word[0][:-1] + "ing", hunk.lines[at], count=1)
        return replace(hunk, lines=(*hunk.lines[:at], wrong, *hunk.lines[at + 1 :]))

    return _each(mutant, change)


def _trailing(mutant: Mutant, rng: random.Random) -> Mutant | None:
    def wider(line: str) -> str:
        return line + rng.choice((" ", "  ", "\t")) if line[:1] in " -" and rng.random() < 0.4 else line

    return _each(mutant, lambda hunk: replace(hunk, lines=tuple(map(wider, hunk.lines))))


def _tabbed(line: str) -> str:
    bare = line.lstrip(" ")
    steps, rest = divmod(len(line) - len(bare), 4)
    return "\t" * steps + " " * rest + bare


def _tab_file(mutant: Mutant, rng: random.Random) -> Mutant | None:
    def tabbed(text: str) -> str:
        return "".join(map(_tabbed, text.splitlines(keepends=True)))

    made = replace(mutant, before=tabbed(mutant.before), after=tabbed(mutant.after))
    return made if _tab_diff(mutant, rng) else None


def _tab_diff(mutant: Mutant, rng: random.Random) -> Mutant | None:
    """Where no line that the diff says is in the file is indented, it is a right diff of another meaning."""
    if not any(line.startswith("    ") for hunk in mutant.hunks for line in hunk.old):
        return None
    return _each(mutant, lambda h: replace(h, lines=tuple(line[:1] + _tabbed(line[1:]) for line in h.lines)))


def _moved_in(mutant: Mutant, rng: random.Random) -> Mutant | None:
    def change(hunk: Hunk) -> Hunk:
        least = min((len(line) - 1 - len(line[1:].lstrip()) for line in hunk.lines if line[1:].strip()), default=0)
        step = rng.choice((least, 4)) if least >= 4 else least
        if not step:
            return replace(hunk, lines=tuple(f"{line[:1]}    {line[1:]}" if line[1:] else line for line in hunk.lines))
        return replace(hunk, lines=tuple(line[:1] + line[1 + step :] for line in hunk.lines))

    return _each(mutant, change)


def _context_moved(mutant: Mutant, rng: random.Random) -> Mutant | None:
    def change(hunk: Hunk) -> Hunk:
        text = [line[1:] for line in hunk.lines if line[:1] == " " and line[1:].strip()]
        step = min(4, min((len(line) - len(line.lstrip()) for line in text), default=0))
        out = not step or rng.random() < 0.5
        moved = ("     " + line[1:] if out else " " + line[1 + step :] for line in hunk.lines)
        pairs = zip(hunk.lines, moved, strict=True)
        return replace(hunk, lines=tuple(new if line[:1] == " " and line[1:] else line for line, new in pairs))

    return _each(mutant, change)


def _crlf_file(mutant: Mutant, rng: random.Random) -> Mutant | None:
    return replace(mutant, before=mutant.before.replace("\n", "\r\n"), after=mutant.after.replace("\n", "\r\n"))


def _crlf_diff(mutant: Mutant, rng: random.Random) -> Mutant | None:
    return replace(mutant, eol="\r\n")


def _last_newline(mutant: Mutant, rng: random.Random) -> Mutant | None:
    """The file has none and the diff does not say so, or the diff says so and the file has one."""
    if rng.random() < 0.5:
        return replace(mutant, before=mutant.before.removesuffix("\n"), after=mutant.after.removesuffix("\n"))
    last = mutant.hunks[-1]
    if last.lines[-1][:1] != " ":
        return None
    return replace(mutant, hunks=(*mutant.hunks[:-1], replace(last, lines=(*last.lines, BARE))))


def _blank(mutant: Mutant, rng: random.Random) -> Mutant | None:
    made = _each(mutant, lambda hunk: replace(hunk, lines=tuple("" if line == " " else line for line in hunk.lines)))
    return (_counts(made, rng) or made) if made and rng.random() < 0.5 else made


def _unmarked(mutant: Mutant, rng: random.Random) -> Mutant | None:
    def bare(line: str) -> str:
        return line[1:] if line[:1] == " " and line[1:2] not in ("-", "+", "\\", "@") else line

    return _each(mutant, lambda hunk: replace(hunk, lines=tuple(map(bare, hunk.lines))))


def _drifted(mutant: Mutant, rng: random.Random) -> Mutant | None:
    """Some of the file's other changes have been made already."""
    done = [hunk for hunk in mutant.others if rng.random() < 0.7]
    if not done:
        return None
    hunks = tuple(replace(hunk, at=hunk.at + _longer(done, hunk.at)) for hunk in mutant.hunks)
    before = spliced(mutant.before, done)
    return replace(mutant, before=before, after=spliced(before, hunks), hunks=hunks, others=())


def _longer(done: list[Hunk], at: int) -> int:
    return sum(sum((line[:1] == "+") - (line[:1] == "-") for line in one.lines) for one in done if one.at < at)


def _order(mutant: Mutant, rng: random.Random) -> Mutant | None:
    hunks = list(mutant.hunks)
    rng.shuffle(hunks)
    return None if tuple(hunks) == mutant.hunks else replace(mutant, hunks=tuple(hunks))


def _elided(mutant: Mutant, rng: random.Random) -> Mutant | None:
    """Hunks that follow each other are written as one, with dots for what lies between."""
    if len(mutant.hunks) < 2:
        return None
    first, *rest = mutant.hunks
    indent = re.match(r" *", rest[0].lines[0][1:])
    dots = rng.choice(("...", " ...", f" {indent[0] if indent else ''}# ...", " # ... existing code ..."))
    lines = first.lines
    for hunk in rest:
        lines = (*lines, dots, *hunk.lines)
    return replace(mutant, hunks=(replace(first, lines=lines),))


def _several(mutant: Mutant, rng: random.Random) -> Mutant | None:
    made: Mutant | None = mutant
    # in this order: to splice other changes into the file, the hunks must still be right
    kinds = (_drifted, _short, _lost, _moved_in, _trailing, _counts, _numbers, _order, _crlf_file)
    for kind in (kinds[at] for at in sorted(rng.sample(range(len(kinds)), 3))):
        made = (kind(made, rng) if made else None) or made
    return made if made != mutant else None


KINDS: Mapping[str, Kind] = {
    "a right diff": _none,
    "wrong counts": _counts,
    "wrong line numbers": _numbers,
    "no numbers": _numberless,
    "shortened context": _short,
    "a context line left out": _lost,
    "a context line misremembered": _misremembered,
    "white space at line ends": _trailing,
    "spaces for the file's tabs": _tab_file,
    "tabs for the file's spaces": _tab_diff,
    "moved left or right": _moved_in,
    "context alone moved left or right": _context_moved,
    "LF for the file's CRLF": _crlf_file,
    "CRLF for the file's LF": _crlf_diff,
    "wrong about the last newline": _last_newline,
    "blank lines without a marker": _blank,
    "context without a marker": _unmarked,
    "the file has moved on": _drifted,
    "hunks out of order": _order,
    "dots for what lies between": _elided,
    "three of these at once": _several,
}
