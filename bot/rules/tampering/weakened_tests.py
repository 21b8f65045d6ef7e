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
from bot.rules.tampering.lost_assertions import NewRows, lives_on, lost, namesake, unpaired
from bot.rules.tampering.lost_cases import LossKind, collected_by_name, losses
from bot.rules.tampering.readings import Case, ChangedTests, Reading
from bot.rules.tampering.support_files import is_setup_file, replacements
from bot.rules.tampering.test_source import is_snapshot, is_test, parse_tests

WEAKENED_TESTS = "weakened_tests"
"""The stop reason of an attempt with a refusal."""

Severity = Literal["refuse", "note"]
Kind = (
    Literal[
        "deleted_test",
        "skipped_test",
        "fewer_assertions",
        "check_config",
        "snapshot",
        "ignored",
        "rigged",
        "support_file",
    ]
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


def weakened(
    files: Sequence[FileTexts], named: Collection[str] = (), checked: Collection[str] = ()
) -> tuple[Weakening, ...]:
    """What the change weakens, refusals first, then by path; `files` is every changed file, as what left one may have
    gone to another. Paths in `named` (the files that the task itself names) may have their check configuration edited;
    those in `checked` (the files that a check's command names) are tests whatever they are called.

    Refused: a test deleted, skipped or run alone, one that is no longer collected or called, that ends early or hides
    what fails in it, rows of its tables or assertions fewer than before, a test file without code, check configuration
    edited, a runner or an assertion replaced, code that asks whether tests run it, the project's code replaced before
    the tests run. Noted: new markers that silence a finding in place, changed snapshots, a skip of a test or in a file
    that is itself new, new files that run before the tests. Tests that are added, moved or renamed with their
    assertions are neither, nor are tests that became rows of a table. What a test that stays expects may change."""
    read_files = _uncollected(_read(files, checked))
    rows = NewRows(read_files)
    found = [
        *_deleted(read_files, rows),
        *_skipped(read_files),
        *_fewer(read_files, rows),
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


def _read(files: Sequence[FileTexts], checked: Collection[str]) -> list[ChangedTests]:
    changed = [_read_file(file, file.path in checked, ((), ())) for file in files if file.before != file.after]
    old, new = (
        (frozenset[str]().union(*names) for names in zip(*map(_helpers, changed), strict=True)) if changed else ((), ())
    )
    if len(changed) > 1 and (old or new):
        return [
            _read_file(FileTexts(one.path, one.old_text, one.new_text), one.path in checked, (old, new))
            for one in changed
        ]
    return changed


def _helpers(file: ChangedTests) -> tuple[frozenset[str], frozenset[str]]:
    return file.before.helpers, file.after.helpers


def _read_file(file: FileTexts, checked: bool, helpers: tuple[Collection[str], Collection[str]]) -> ChangedTests:
    """The tests of a file before and after, where the functions of other files that assert are known."""

    def read(by_text: bool) -> list[Reading]:
        pairs = zip((file.before or "", file.after or ""), helpers, strict=True)
        return [parse_tests(file.path, text, checked=checked, by_text=by_text, helpers=names) for text, names in pairs]

    before, after = read(by_text=False)
    if before.by_text != after.by_text:
        before, after = read(by_text=True)
    return ChangedTests(file.path, before, after, file.before, file.after)


def _uncollected(files: Sequence[ChangedTests]) -> list[ChangedTests]:
    """The files, where cases that moved to a file whose name no runner looks for are no cases any more."""
    if not any(file.is_gone and file.before.cases and collected_by_name(file.path) for file in files):
        return list(files)
    return [
        replace(file, after=replace(file.after, cases=())) if file.is_new and not collected_by_name(file.path) else file
        for file in files
    ]


def _lost_cases(files: Sequence[ChangedTests]) -> Iterable[Weakening]:
    return (Weakening("refuse", kind, path, because) for kind, path, because in losses(files))


def _deleted(files: Sequence[ChangedTests], rows: NewRows) -> Iterable[Weakening]:
    gone, come = unpaired(files)
    # a test whose head alone was taken away leaves assertions that nothing runs
    missing = lost(files, only_cases=True)
    for path, cases in gone.items():
        file = next(file for file in files if file.path == path)
        takers = [*come, *file.after.cases]
        cases = [case for case in cases if not lives_on(case, missing, come) and not _in_rows(case, rows, takers)]
        if not cases:
            continue
        names, reason = _names(case.name for case in cases), "file" if file.is_gone else "deleted"
        because = make_reason(f"weak.{reason}", path=path, count=len(cases), names=names)
        yield Weakening("refuse", "deleted_test", path, because)
    added = {file.new_text for file in files if file.is_new}
    for file in files:
        unread = file.old_text and not file.before.cases and not is_snapshot(file.path)
        without = file.is_gone or (file.after.empty and not file.before.empty)
        if unread and without and is_test(file.path) and file.old_text not in added and _is_more_than_help(file):
            kind = "weak.test_file" if file.is_gone else "weak.emptied"
            yield Weakening("refuse", "deleted_test", file.path, make_reason(kind, path=file.path))


def _in_rows(case: Case, rows: NewRows, cases: Sequence[Case]) -> bool:
    return bool(case.assertions) and rows.take(case.assertions, cases) == len(case.assertions)


def _is_more_than_help(file: ChangedTests) -> bool:
    """Whether a test file without readable cases had assertions, or the name of a test."""
    name = file.path.rpartition("/")[2]
    return bool(file.before.loose) or (is_test(name) and name != "conftest.py")


def _fewer(files: Sequence[ChangedTests], rows: NewRows) -> Iterable[Weakening]:
    missing = lost(files)
    after = [case for file in files for case in file.after.cases]
    for file in files:
        here = list(file.after.cases)
        for case in file.before.cases:
            same = namesake(case, here)
            if same is not None:
                here.remove(same)
            else:
                same = namesake(case, after)
            if same is None:
                continue
            fewer = _missing(case.assertions, same.assertions, missing)
            if len(fewer) > 0 and len(fewer) > rows.take(fewer, [same]):
                yield _less("weak.fewer", file.path, case.assertions, same.assertions, name=_short(case.name))
        if not file.is_gone and not file.after.empty and _missing(file.before.loose, file.after.loose, missing):
            yield _less("weak.fewer.shared", file.path, file.before.loose, file.after.loose)


def _missing(before: Sequence[str], after: Sequence[str], missing: Counter[str]) -> list[str]:
    """The assertions that a test has fewer than before, if they stand nowhere else."""
    if len(after) >= len(before):
        return []
    return [line for line in (Counter(before) - Counter(after)).elements() if line in missing]


def _less(kind: str, path: str, before: Sequence[str], after: Sequence[str], **name: str) -> Weakening:
    because = make_reason(kind, path=path, count=len(after), before=len(before), **name)
    return Weakening("refuse", "fewer_assertions", path, because)


def _skipped(files: Sequence[ChangedTests]) -> Iterable[Weakening]:
    if sum(file.after.skips - file.before.skips for file in files) <= 0:
        return
    tests_gone = any(unpaired(files)[0]) or any(file.is_gone and file.before.cases for file in files)
    known = {case.name for file in files for case in file.before.cases}
    for file in files:
        more = file.after.skips - file.before.skips
        if more > 0:
            added = sum(case.skips for case in file.after.cases if case.name not in known)
            severity: Severity = "note" if (file.is_new or more <= added) and not tests_gone else "refuse"
            because = make_reason("weak.skipped", path=file.path, count=more)
            yield Weakening(severity, "skipped_test", file.path, because)


def _ignored(files: Sequence[ChangedTests]) -> Iterable[Weakening]:
    total: Counter[str] = Counter()
    for file in files:
        total.update(file.after.ignores)
        total.subtract(file.before.ignores)
    for file in files:
        new = [kind for kind in file.after.ignores - file.before.ignores if total[kind] > 0]
        if new:
            what = ", ".join(sorted(f"`{kind}`" for kind in new))
            yield Weakening("note", "ignored", file.path, make_reason("weak.ignored", path=file.path, what=what))


def _rigged(files: Sequence[ChangedTests], checked: Collection[str]) -> Iterable[Weakening]:
    gone = {file.old_text for file in files if file.is_gone}
    alone = all(is_test(file.path) for file in files)
    for path, before, after in ((file.path, file.old_text, file.new_text) for file in files):
        if before is None and after in gone:
            continue  # moved as it was
        for because in forced_passes(path, before, after, tests=is_test(path) or path in checked):
            yield Weakening("refuse", "rigged", path, because)
        if not (is_test(path) or is_setup_file(path)) or any(file.after.cases for file in files if file.path == path):
            continue
        found = list(_support(path, before, after))
        yield from found
        if alone and not found:
            yield from (Weakening("refuse", "rigged", path, because) for because in stubbed_code(path, before, after))


def _support(path: str, before: str | None, after: str | None) -> Iterable[Weakening]:
    """What a file without tests replaces before the tests run."""
    old, new = (replacements(path, text or "") for text in (before, after))
    ours, other = sorted(new.project - old.project), sorted(new.other - old.other)
    if ours:
        because = make_reason("rigged.replaced_code", path=path, what=_short(ours[0]))
        yield Weakening("refuse", "rigged", path, because)
    elif other:
        yield Weakening("note", "support_file", path, make_reason("weak.replaced", path=path, what=_short(other[0])))
    elif before is None and after is not None and (is_setup_file(path) or (new.runs and _is_loaded(path))):
        yield Weakening("note", "support_file", path, make_reason("weak.support", path=path))


def _is_loaded(path: str) -> bool:
    """Whether pytest loads the file before the tests beside it."""
    return path.rpartition("/")[2] in ("conftest.py", "__init__.py")


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
