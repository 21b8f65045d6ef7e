"""Distinguishes a fix from a weakened check: tests deleted, skipped or emptied, findings silenced, configuration
edited. With these, a run could always pass, so the worst of them refuse an attempt (REQ-STOP-006)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bot.model.reasons import Reason
from bot.rules.reasons import all_reasons, make_reason
from bot.rules.tampering.check_config import adds_harmless_settings, is_config, settings
from bot.rules.tampering.forced_passes import forced_passes, stubbed_code
from bot.rules.tampering.lost_cases import ChangedTests, LossKind, collected_by_name, losses
from bot.rules.tampering.readings import Case, Reading
from bot.rules.tampering.test_source import is_snapshot, is_test, parse_tests

WEAKENED_TESTS = "weakened_tests"
"""The stop reason of an attempt with a refusal."""

Severity = Literal["refuse", "note"]
Kind = (
    Literal["deleted_test", "skipped_test", "fewer_assertions", "check_config", "snapshot", "ignored", "rigged"]
    | LossKind
)
_NAMED = 5
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class FileTexts:
    """A changed file's text before and after; None where there is none. A moved file is two of these."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Weakening:
    """One way in which a change weakens the checks. `because` names the path and the remedy; its values are
    untrusted. `refuse` fails the attempt, `note` is shown to reviewers."""

    severity: Severity
    kind: Kind
    path: str
    because: Reason


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    before: Reading
    after: Reading
    texts: FileTexts


def weakened(
    files: Sequence[FileTexts], named: Collection[str] = (), checked: Collection[str] = ()
) -> tuple[Weakening, ...]:
    """What the change weakens, refusals first, then by path; `files` is every changed file, as what left one may have
    gone to another. Paths in `named` (the files that the task itself names) may have their check configuration edited;
    those in `checked` (the files that a check's command names) are tests whatever they are called.

    Refused: a test deleted, skipped or run alone, one that is no longer collected or called, that ends early or hides
    what fails in it, rows of its tables or assertions fewer than before, check configuration edited, a runner or an
    assertion replaced, code that asks whether tests run it. Noted: new
    markers that silence a finding in place, changed snapshots, a skip in a file that is itself new. Tests that are
    added, moved or renamed with their assertions are neither; several tests made into one with a table are seen as
    deleted, for text alone does not show what the table holds. What a test that stays expects may change."""
    read_files = _uncollected([_read(texts, texts.path in checked) for texts in files if texts.before != texts.after])
    found = [
        *_deleted(read_files),
        *_skipped(read_files),
        *_fewer(read_files),
        *_lost_cases(read_files),
        *_rigged(read_files, checked),
        *(one for texts in files for one in _configured(texts, texts.path in named)),
        *_snapshots(files),
        *_ignored(read_files),
    ]
    return tuple(sorted(found, key=lambda one: (one.severity != "refuse", one.path)))


def weakened_refusal(found: Iterable[Weakening]) -> Reason | None:
    """Why an attempt is refused, for its agent and for people; None where nothing refuses it."""
    reasons = [one.because for one in found if one.severity == "refuse"]
    return all_reasons(reasons, _NAMED) if reasons else None


def _read(texts: FileTexts, checked: bool) -> _File:
    sides = (texts.before or "", texts.after or "")
    before, after = (parse_tests(texts.path, text, checked=checked) for text in sides)
    if before.by_text != after.by_text:
        before, after = (parse_tests(texts.path, text, checked=checked, by_text=True) for text in sides)
    return _File(texts.path, before, after, texts)


def _uncollected(files: Sequence[_File]) -> list[_File]:
    """The files, where cases that moved to a file whose name no runner looks for are no cases any more."""
    if not any(file.texts.after is None and file.before.cases and collected_by_name(file.path) for file in files):
        return list(files)
    return [
        replace(file, after=replace(file.after, cases=()))
        if file.texts.before is None and not collected_by_name(file.path)
        else file
        for file in files
    ]


def _lost_cases(files: Sequence[_File]) -> Iterable[Weakening]:
    changed = [
        ChangedTests(file.path, file.before, file.after, new=file.texts.before is None, gone=file.texts.after is None)
        for file in files
    ]
    return (Weakening("refuse", kind, path, because) for kind, path, because in losses(changed))


def _deleted(files: Sequence[_File]) -> Iterable[Weakening]:
    gone, come = _unpaired(files)
    # a test whose head alone was taken away leaves assertions that nothing runs
    lost = _lost(files, only_cases=True)
    for path, cases in gone.items():
        missing = [case for case in cases if not _lives_on(case, lost, come)]
        file = next(file for file in files if file.path == path)
        if not missing:
            continue
        names, reason = _names(case.name for case in missing), "file" if file.texts.after is None else "deleted"
        because = make_reason(f"weak.{reason}", path=path, count=len(missing), names=names)
        yield Weakening("refuse", "deleted_test", path, because)
    added = {file.texts.after for file in files if file.texts.before is None}
    for file in files:
        texts = file.texts
        unread = texts.after is None and texts.before and not file.before.cases and not is_snapshot(file.path)
        if unread and is_test(file.path) and texts.before not in added and _is_more_than_help(file):
            yield Weakening("refuse", "deleted_test", file.path, make_reason("weak.test_file", path=file.path))


def _is_more_than_help(file: _File) -> bool:
    """Whether a test file without readable cases had assertions, or the name of a test."""
    name = file.path.rpartition("/")[2]
    return bool(file.before.loose) or (is_test(name) and name != "conftest.py")


def _unpaired(files: Sequence[_File]) -> tuple[dict[str, list[Case]], list[Case]]:
    """(cases whose name is nowhere any more, by path; cases whose name is new), counting equal names."""
    left = Counter(case.name for file in files for case in file.after.cases)
    left.subtract(case.name for file in files for case in file.before.cases)
    gone: dict[str, list[Case]] = {}
    come: list[Case] = []
    for file in files:
        here = Counter(case.name for case in file.after.cases)
        for case in file.before.cases:
            here[case.name] -= 1
            if here[case.name] < 0 and left[case.name] < 0:
                left[case.name] += 1
                gone.setdefault(file.path, []).append(case)
        known = {case.name for case in file.before.cases}
        come += [case for case in file.after.cases if case.name not in known and left[case.name] > 0]
    return gone, come


def _lost(files: Sequence[_File], only_cases: bool = False) -> Counter[str]:
    """The assertions, as lines, that stand nowhere any more or less often; in cases, or anywhere."""
    before = Counter(line for file in files for line in _assertions(file.before, only_cases))
    before.subtract(line for file in files for line in _assertions(file.after, only_cases))
    return +before


def _assertions(reading: Reading, only_cases: bool) -> list[str]:
    in_cases = [line for case in reading.cases for line in case.assertions]
    return in_cases if only_cases else [*in_cases, *reading.loose]


def _lives_on(case: Case, lost: Counter[str], come: Sequence[Case]) -> bool:
    """Whether the case's assertions all stand elsewhere, or a new case is this one under another name."""
    if case.assertions and not any(line in lost for line in case.assertions):
        return True
    wanted = Counter(case.assertions or case.lines)
    for other in come:
        kept = wanted & Counter(other.assertions if case.assertions else other.lines)
        enough = len(other.assertions) >= len(case.assertions)
        if case.lines == other.lines or (enough and wanted and 2 * kept.total() >= wanted.total()):
            return True
    return False


def _fewer(files: Sequence[_File]) -> Iterable[Weakening]:
    lost = _lost(files)
    after = [case for file in files for case in file.after.cases]
    for file in files:
        here = list(file.after.cases)
        for case in file.before.cases:
            same = next((other for other in here if other.name == case.name), None)
            if same is not None:
                here.remove(same)
            else:
                same = next((other for other in after if other.name == case.name), None)
            if same is not None and _has_fewer(case.assertions, same.assertions, lost):
                yield _less("weak.fewer", file.path, case.assertions, same.assertions, name=_short(case.name))
        if file.texts.after is not None and _has_fewer(file.before.loose, file.after.loose, lost):
            yield _less("weak.fewer.shared", file.path, file.before.loose, file.after.loose)


def _has_fewer(before: Sequence[str], after: Sequence[str], lost: Counter[str]) -> bool:
    return len(after) < len(before) and any(line in lost for line in Counter(before) - Counter(after))


def _less(kind: str, path: str, before: Sequence[str], after: Sequence[str], **name: str) -> Weakening:
    because = make_reason(kind, path=path, count=len(after), before=len(before), **name)
    return Weakening("refuse", "fewer_assertions", path, because)


def _skipped(files: Sequence[_File]) -> Iterable[Weakening]:
    if sum(file.after.skips - file.before.skips for file in files) <= 0:
        return
    tests_gone = any(_unpaired(files)[0]) or any(file.texts.after is None and file.before.cases for file in files)
    for file in files:
        more = file.after.skips - file.before.skips
        if more > 0:
            severity: Severity = "note" if file.texts.before is None and not tests_gone else "refuse"
            because = make_reason("weak.skipped", path=file.path, count=more)
            yield Weakening(severity, "skipped_test", file.path, because)


def _ignored(files: Sequence[_File]) -> Iterable[Weakening]:
    total: Counter[str] = Counter()
    for file in files:
        total.update(file.after.ignores)
        total.subtract(file.before.ignores)
    for file in files:
        new = [kind for kind in file.after.ignores - file.before.ignores if total[kind] > 0]
        if new:
            what = ", ".join(sorted(f"`{kind}`" for kind in new))
            yield Weakening("note", "ignored", file.path, make_reason("weak.ignored", path=file.path, what=what))


def _rigged(files: Sequence[_File], checked: Collection[str]) -> Iterable[Weakening]:
    gone = {file.texts.before for file in files if file.texts.after is None}
    alone = all(is_test(file.path) for file in files)
    for path, before, after in ((file.path, file.texts.before, file.texts.after) for file in files):
        if before is None and after in gone:
            continue  # moved as it was
        for because in forced_passes(path, before, after, tests=is_test(path) or path in checked):
            yield Weakening("refuse", "rigged", path, because)
        if alone and not any(file.after.cases for file in files if file.path == path):
            yield from (Weakening("refuse", "rigged", path, because) for because in stubbed_code(path, before, after))


def _configured(texts: FileTexts, asked_for: bool) -> Iterable[Weakening]:
    if not is_config(texts.path) or texts.before == texts.after:
        return
    before, after = settings(texts.path, texts.before), settings(texts.path, texts.after)
    changed = [name for name in before if before[name] != after.get(name)]
    added = [name for name in after if name not in before]
    harmless = not changed and adds_harmless_settings(texts.path, added, new=texts.before is None)
    if not changed and not added:
        return
    severity: Severity = "note" if asked_for or harmless else "refuse"
    deeds = "deletes" if texts.after is None else "adds" if not changed else "changes"
    kind = f"weak.{'noted' if severity == 'note' else 'config'}.{deeds}"
    because = make_reason(kind, path=texts.path, names=_names([*changed, *added]))
    yield Weakening(severity, "check_config", texts.path, because)


def _snapshots(files: Sequence[FileTexts]) -> Iterable[Weakening]:
    for texts in files:
        if is_snapshot(texts.path) and texts.before is not None and texts.before != texts.after:
            yield Weakening("note", "snapshot", texts.path, make_reason("weak.snapshots", path=texts.path))


def _names(names: Iterable[str]) -> str:
    every = [_short(name) for name in names]
    return ", ".join(every[:_NAMED]) + (f", … (+{len(every) - _NAMED})" if len(every) > _NAMED else "")


def _short(name: str) -> str:
    line = " ".join(name.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
