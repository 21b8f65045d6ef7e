"""Decides which failures of the base a run leaves alone: those that its task does not name. So existing failures
block no run, and are never claimed as fixed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from bot.model import Annotation, ValidationStep
from bot.model.pipeline import ExistingErrors, FindingKey
from bot.model.reasons import ExplainedStop
from bot.rules.failures.errors import MAX_FINGERPRINTS, Printed
from bot.rules.failures.failure_origin import NOT_RUN, WHOLE
from bot.rules.failures.normalize import normalize_error, test_of
from bot.rules.patches.style_findings import about_style
from bot.rules.reasons import make_reason
from bot.rules.runs.changes import MECHANICAL
from bot.rules.runs.pipeline import CUSTOM
from bot.rules.runs.spec import RunSpec

_TESTS = ("test", CUSTOM)
_ABOUT_TYPES = re.compile(
    r"\b(?:type[- ]?check\w*|typing|type (?:errors?|hints?|annotations?)|mypy|(?:based)?pyright|tsc|typescript)\b"
    r"|타입 ?(?:에러|오류|체크|검사)",
    re.IGNORECASE,
)
_CODE = re.compile(r"\b(?:TS\d{3,5}|[A-Z]{1,4}\d{2,5})\b|\[([a-z][\w/-]{3,60})\]")
_WORDS = re.compile(r"[\w.@/-]+")
_FILE = re.compile(r"[\w@/-][\w.@/-]*\.[A-Za-z]\w{0,5}(?![\w.])")
_SUM = re.compile(r"FAILED \((?:failures|errors)=\d")
_NUMBERS = re.compile(r"\d+")
_LEAF = re.compile(r"::| > | › ")
_TEST_MARKS = re.compile(r"^test_|_test$|\.(?:test|spec)$|^test-|-test$", re.IGNORECASE)
_MAX_PRINTED, _MAX_PRINTED_CHARS, _MAX_GUIDANCE = 20, 300, 5
_MIN_QUOTED_CHARS = 12
"""Characters of a message or of a test's name in plain words that a task may name by chance if it is shorter."""


def existing_errors(
    spec: RunSpec, stage: str, step: ValidationStep, found: Mapping[str, Printed], *, others_named: bool
) -> ExistingErrors:
    """The errors of a check that failed on the base and are left alone, from its errors `found`. `others_named`: the
    task names an error that an earlier check of the same base showed (`ExistingErrors.named`). That the task is about
    that check is not enough, as it may be about the tests as well.

    The command of a person must pass. Of lint and typecheck, only errors that the task names are fixed, or all where
    the task is about that check. A check that could not run or was cut short is left out. Of tests, all errors are
    fixed, unless the task names some of them."""
    if step.passed or step.skipped or _is_given(spec, stage):
        return ExistingErrors()
    errors = tuple(found) or (WHOLE,)
    if stage in _TESTS:
        if step.could_not_run is not None or step.cut_short:
            return ExistingErrors()
        named = [error for error in errors if names_test(spec.task, test_of(error) or error, found.get(error))]
        aside = bool(named) or others_named
        return _left(_but(errors, named), found, ()) if aside else ExistingErrors()
    if step.could_not_run is not None or step.cut_short:
        return ExistingErrors(errors=(NOT_RUN,))
    mine, exact = _named_findings(spec, stage, step, found)
    left = _left(_but(errors, mine), found, step.annotations)
    return left.model_copy(update={"named": exact})


def has_new(left: ExistingErrors, step: ValidationStep, errors: Sequence[str]) -> bool:
    """Whether a failed check shows an error that was not left alone on the base."""
    if not left.errors or step.cut_short or step.could_not_run is not None:
        return True
    before = {test_of(error) or error for error in left.errors}
    whole = len(left.errors) >= MAX_FINGERPRINTS  # of more errors than these nothing is known by its text
    if not whole and not {test_of(error) or error for error in _without_totals(errors) or (WHOLE,)} <= before:
        return True
    known = Counter({place[:3]: place[3] for place in left.places})
    return bool(known) and bool(Counter({place[:3]: place[3] for place in _places(step.annotations)}) - known)


def names_test(task: str, test: str, printed: Printed | None = None) -> bool:
    """Whether a task names a failed test: by its name, its file, the file that it tests, or its message."""
    name = (printed.test if printed else "") or test.removeprefix("FAILED ")
    words = frozenset(_WORDS.findall(task))
    leaf = _leaf(name)
    identifier = re.fullmatch(r"[Tt]est\w{3,}|\w*_\w+", leaf) is not None
    if leaf and (
        (identifier and leaf in words) or (len(leaf) >= _MIN_QUOTED_CHARS and leaf.casefold() in task.casefold())
    ):
        return True
    asked = {PurePosixPath(word.rstrip(".")).name for word in words if _FILE.fullmatch(word.rstrip("."))}
    stems = {_stem(file) for file in asked}
    files = {PurePosixPath(file).name for file in _FILE.findall(name)}
    if any(file in asked or _stem(file) in stems for file in files):
        return True
    return printed is not None and _says(task, printed.text)


def leave_alone_guidance(left: Iterable[ExistingErrors]) -> tuple[str, ...]:
    """The guidance for an agent about failures that are left alone; empty where there are none."""
    failures = [text for errors in left for text in errors.said][:_MAX_GUIDANCE]
    return (f"Leave these failures alone, which are not part of the task: {'; '.join(failures)}",) if failures else ()


def cannot_check(spec: RunSpec, steps: Sequence[ValidationStep]) -> ExplainedStop | None:
    """Why a run ends before any agent is asked: its tests, or all its checks, cannot start on the base. None where
    they can. None also for a pull request, whose own change may be the cause, and for the command of a person, which
    the change may have to make possible."""
    if spec.pull is not None:
        return None
    ran = [step for step in steps if step.command]
    deciding = [step for step in ran if step.stage in _TESTS] or ran
    stuck = [step for step in deciding if step.could_not_run is not None]
    if not stuck or len(stuck) < len(deciding) or any(_is_given(spec, step.stage) for step in deciding):
        return None
    unable = stuck[0].could_not_run
    assert unable is not None
    what = unable.setup.command if unable.setup is not None else unable.what
    reason = make_reason(f"cannot_check.{unable.hindrance}", what=what, command=stuck[0].command)
    return ExplainedStop.of("cannot_check", reason)


def without_existing_errors(
    step: ValidationStep, left: ExistingErrors, errors: Sequence[str]
) -> tuple[ValidationStep, tuple[str, ...]]:
    """A failed check without the errors that were left alone on the base, and the errors that remain. It counts as
    passed where none remain, and as skipped where it could not run on the base."""
    if step.passed or not left.errors:
        return step, tuple(errors)
    if NOT_RUN in left.errors:
        return step.model_copy(update={"passed": True, "skipped": True, "classification": None}), ()
    if not has_new(left, step, errors):
        update = {"passed": True, "tolerated": True, "annotations": (), "classification": None}
        return step.model_copy(update={**update, "failures": (), "failure_count": 0}), ()
    before = {test_of(error) or error for error in left.errors}
    rest = tuple(error for error in _without_totals(errors) if (test_of(error) or error) not in before)
    return step, rest or tuple(errors)


def _is_given(spec: RunSpec, stage: str) -> bool:
    """Whether the command comes from the request of the run: then it must pass."""
    return bool(spec.validation_commands) or (stage == "test" and spec.test_command is not None)


def _left(errors: tuple[str, ...], found: Mapping[str, Printed], places: Sequence[Annotation]) -> ExistingErrors:
    if not errors:
        return ExistingErrors()
    printed = [found[error] for error in errors[:_MAX_PRINTED] if error in found]
    texts = tuple(": ".join(part for part in (each.test, each.text) if part)[:_MAX_PRINTED_CHARS] for each in printed)
    return ExistingErrors(errors=errors, places=_places(places), said=texts)


def _named_findings(
    spec: RunSpec, stage: str, step: ValidationStep, found: Mapping[str, Printed]
) -> tuple[tuple[str, ...], bool]:
    """The errors of lint or typecheck that the task names, and True; else all errors if the task is about that
    check, or none."""
    task = spec.task
    words = frozenset(_WORDS.findall(task)) | frozenset(re.findall(r"[\w/-]+", task))
    exact = [error for error, printed in found.items() if _coded(error, words) or _says(task, printed.text)]
    if exact:
        return tuple(exact), True
    if set(spec.agents) <= MECHANICAL:  # they work on findings alone
        return tuple(found) or (WHOLE,), False
    about = about_style(task, step.annotations) if stage == "lint" else bool(_ABOUT_TYPES.search(task))
    return (tuple(found) or (WHOLE,)) if about else (), False


def _coded(error: str, words: frozenset[str]) -> bool:
    return any((match[1] or match[0]) in words for match in _CODE.finditer(error))


def _says(task: str, text: str) -> bool:
    """Whether the task quotes the tool's message, at any place."""
    asked = " ".join(normalize_error(line) for line in task.splitlines()[:200] if line.strip())
    normal = normalize_error(text)
    message = normal.rpartition("<POS>")[2].lstrip(" :-") or normal
    return len(message) >= _MIN_QUOTED_CHARS and message.casefold() in asked.casefold()


def _leaf(name: str) -> str:
    """A test's own name: of `tests/test_a.py::Test::test_b[1]`, `a.test.js > sums > b`, `test_b (a.Test.test_b)`."""
    bare = _LEAF.split(name)[-1].partition("[")[0].strip()
    if re.fullmatch(r"\w+ \([\w.]+\)", bare):
        return bare.partition(" (")[0]
    return bare.rpartition(".")[2] if re.fullmatch(r"[\w.]+", bare) else bare


def _stem(file: str) -> str:
    """`cart` for `cart.py`, `test_cart.py`, `cart.test.ts`."""
    stem = PurePosixPath(file).stem
    return _TEST_MARKS.sub("", stem).casefold()


def _without_totals(errors: Sequence[str]) -> tuple[str, ...]:
    """The errors without a runner's total, which changes as soon as one of them is gone."""
    return tuple(error for error in errors if not _SUM.match(error)) or tuple(errors)


def _but(errors: Iterable[str], named: Iterable[str]) -> tuple[str, ...]:
    mine = frozenset(named)
    return tuple(error for error in errors if error not in mine)


def _places(found: Iterable[Annotation]) -> tuple[FindingKey, ...]:
    """Findings without the numbers in their messages, which a change elsewhere in the file shifts."""
    counted = Counter((one.path, one.rule or "", _NUMBERS.sub("#", one.message)[:200]) for one in found)
    return tuple((*place, count) for place, count in counted.items())
