"""A check made blind is told from a fix: what refuses an attempt, what is only noted, and what is neither."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reports.locale.reasons import english
from bot.rules.reasons import make_reason
from bot.rules.tampering.weakened_tests import FileTexts, Weakening, weakened, weakened_refusal
from tests.machine import CPU_S
from tests.rules.tampering.weakened_changes import NEITHER, NOTED, PYTEST, REFUSED, change


def kinds(*files: FileTexts) -> list[tuple[str, str]]:
    return [(one.severity, one.kind) for one in weakened(files)]


@pytest.mark.parametrize("name", REFUSED)
def test_a_weakened_check_refuses_the_attempt(name: str) -> None:
    """REQ-STOP-006: deleted or skipped tests, fewer assertions, edited check configuration, each named."""
    kind, file = REFUSED[name]
    found = [one for one in weakened([file]) if one.severity == "refuse"]
    assert [one.kind for one in found] == [kind]
    assert found[0].path == file.path
    assert file.path in english(weakened_refusal(found))


@pytest.mark.parametrize("name", NOTED)
def test_a_finding_silenced_in_place_is_noted(name: str) -> None:
    assert kinds(NOTED[name]) == [("note", "ignored")]
    assert weakened_refusal(weakened([NOTED[name]])) is None


@pytest.mark.parametrize("name", NEITHER)
def test_honest_changes_are_neither_refused_nor_noted(name: str) -> None:
    assert weakened(NEITHER[name]) == ()


def test_the_sentence_names_the_path_the_test_and_what_to_do() -> None:
    file = change("tests/test_a.py", PYTEST, ("    assert add(0, 0) == 0\n", ""))
    because = make_reason("weak.fewer", path="tests/test_a.py", name="test_adds", count=1, before=2)
    assert weakened([file]) == (Weakening("refuse", "fewer_assertions", "tests/test_a.py", because),)
    assert english(because) == "tests/test_a.py: test test_adds has 1 assertion instead of 2; keep what it asserts"
    gone = weakened([FileTexts("tests/test_a.py", PYTEST, None)])
    assert (
        english(weakened_refusal(gone))
        == "tests/test_a.py: the file with 2 tests (test_adds, test_negative) was deleted; keep it"
    )


def test_configuration_that_the_task_names_is_only_noted() -> None:
    file = change("tsconfig.json", '{"strict": false}', ("false", "true"))
    assert [one.severity for one in weakened([file], named=("tsconfig.json",))] == ["note"]
    assert kinds(change("package.json", '{"scripts": {}}', ("{}", '{"lint": "true"}'))) == [("note", "check_config")]


def test_a_new_test_may_bring_its_own_skip_but_not_in_place_of_another() -> None:
    skipped = FileTexts("tests/test_b.py", None, "@pytest.mark.skipif(WINDOWS)\ndef test_b():\n    assert f()\n")
    assert kinds(skipped) == [("note", "skipped_test")]
    instead = kinds(FileTexts("tests/test_a.py", PYTEST, None), skipped)
    assert instead == [("refuse", "deleted_test"), ("refuse", "skipped_test")]


def test_a_moved_test_must_bring_its_assertions_along() -> None:
    files = [
        FileTexts("tests/test_a.py", PYTEST, None),
        FileTexts("tests/test_b.py", None, PYTEST.replace("    assert add(0, 0) == 0\n", "")),
    ]
    assert [one.kind for one in weakened(files)] == ["fewer_assertions"]


def test_new_tests_do_not_make_up_for_a_lost_one() -> None:
    more = "".join(f"\n\ndef test_{n}():\n    assert f({n})\n" for n in range(9))
    file = change("tests/test_a.py", PYTEST, ("    assert add(0, 0) == 0\n", more))
    assert ("refuse", "fewer_assertions") in kinds(file)


def test_changed_snapshots_are_noted() -> None:
    assert kinds(FileTexts("src/__snapshots__/a.test.ts.snap", "exports[`a`] = `1`", "exports[`a`] = `2`")) == [
        ("note", "snapshot")
    ]


PATHS = st.sampled_from(["tests/test_a.py", "a.test.ts", "a_test.go", "src/lib.rs", "AT.java", "package.json", "x.rb"])
TEXTS = (
    st.none()
    | st.lists(
        st.sampled_from(
            ["def test_a():\n", "  assert x\n", "it('a', () => {\n", "'''", "/*", "`", "#[test]\nfn a()", '"']
        )
    ).map("".join)
    | st.text(max_size=60)
)


@given(st.lists(st.builds(FileTexts, PATHS, TEXTS, TEXTS), max_size=4, unique_by=lambda file: file.path))
def test_any_change_gets_an_answer_and_its_own_kind_of_one(files: list[FileTexts]) -> None:
    found = weakened(files)
    assert all(english(one.because).startswith(one.path) for one in found)
    assert weakened([FileTexts(file.path, file.before, file.before) for file in files]) == ()


@pytest.mark.parametrize(
    "piece", ["/*", "`", "\\`", "'", "\\'", '"""', "it(", "it.each`", "#[test]", "@Test ", "test: "]
)
def test_odd_texts_are_read_in_time(piece: str) -> None:
    """One piece over and over; a quadratic pattern would take many seconds of it."""
    text = piece * (60_000 // len(piece))
    started = time.process_time()
    for path in ("tests/test_a.py", "a.test.ts", "src/lib.rs", "ATest.java", "Makefile", "a_spec.rb"):
        weakened([FileTexts(path, text, text + "\n")])
    assert time.process_time() - started < CPU_S


def test_a_moved_test_must_stay_where_its_runner_looks() -> None:
    files = [FileTexts("tests/test_a.py", PYTEST, None), FileTexts("tests/a_tests.py", None, PYTEST)]
    assert kinds(*files) == [("refuse", "deleted_test")]


def test_a_file_that_a_check_names_is_a_test_whatever_it_is_called() -> None:
    file = change("check.mjs", "import assert from 'node:assert'\nassert(f())\nassert(g())\n", ("assert(g())\n", ""))
    assert weakened([file]) == ()
    assert [one.kind for one in weakened([file], checked=("check.mjs",))] == ["fewer_assertions"]
