"""`run_step`: what a command printed, as it may be shown and stored (spec A, Output; threat T32, T35, T38, T40)."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from bot.model import ShellCommand, ValidationStep
from bot.reports.format.redact import Redactor
from bot.workspace.checks.step import run_step
from bot.workspace.sandbox.bubblewrap import SandboxGrant
from bot.workspace.sandbox.sandbox import open_sandbox
from tests.workspace.checks.one_step import step


async def test_a_long_failure_keeps_head_and_tail_and_marks_the_cut(tmp_path: Path) -> None:
    result, log = await step(tmp_path, "echo FIRST; seq 1 20000; echo LAST; exit 1")
    assert len(result.output) <= 5000
    assert result.output.startswith("FIRST")
    assert result.output.endswith("LAST")
    assert re.search(r"\[… \d+ characters cut …\]", result.output)
    assert b"\n12345\n" in log


PYTEST = """
=================================== FAILURES ===================================
__________________________________ test_total __________________________________

    def test_total():
>       assert total([2, 3]) == 5
E       assert 6 == 5

tests/test_shop.py:4: AssertionError
=========================== short test summary info ============================
FAILED tests/test_shop.py::test_total - assert 6 == 5
"""


async def test_a_failure_in_the_middle_of_a_long_log_is_kept_whole(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_shop.py").write_text("\n" * 9)
    (tmp_path / "log.txt").write_text("tests/test_a.py::test_ok PASSED\n" * 3_000 + PYTEST + "noise\n" * 5_000)
    result, _ = await step(tmp_path, "cat log.txt; echo LAST; exit 1")
    (failure,) = result.failures
    assert (failure.name, failure.message) == ("tests/test_shop.py::test_total", "assert 6 == 5")
    assert (failure.path, failure.line, result.failure_count) == ("tests/test_shop.py", 4, 1)
    assert len(result.output) <= 5_000
    assert result.output.startswith("tests/test_a.py::test_ok") and result.output.endswith("LAST")
    assert len(re.findall(r"\[… \d+ characters cut …\]", result.output)) == 2
    assert ">       assert total([2, 3]) == 5\nE       assert 6 == 5" in result.output


async def test_a_place_that_is_not_in_the_tree_is_no_place_of_a_failure(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text(PYTEST)
    (failure,) = (await step(tmp_path, "cat log.txt; exit 1"))[0].failures
    assert (failure.path, failure.line) == ("", 0)


async def test_many_failures_are_counted_and_the_first_twenty_kept(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("".join(f"FAILED tests/test_a.py::test_{n} - assert 0\n" for n in range(50)))
    result, _ = await step(tmp_path, "cat log.txt; exit 1")
    assert (len(result.failures), result.failure_count) == (20, 50)


async def test_a_success_is_summed_up(tmp_path: Path) -> None:
    result, log = await step(tmp_path, "seq 1 5000; echo 7 passed")
    assert result.output.endswith("7 passed")
    assert len(result.output) <= 500
    assert b"\n2500\n" in log


async def test_colours_controls_and_secrets_are_gone_everywhere(tmp_path: Path) -> None:
    secret = "hunter2-" + "x" * 12
    (tmp_path / "a.py").write_text("x\n")
    printed = f"printf '\\033[31ma.py:1:1: error: {secret[:5]}\\033[0m{secret[5:]}\\007\\n'; exit 1"
    result, log = await step(tmp_path, printed, mask=Redactor([secret]).mask)
    told = result.model_dump_json() + log.decode()
    assert secret not in told
    assert "hunter" not in told
    assert "\x1b" not in result.output + log.decode()
    assert "\x07" not in result.output + log.decode()
    assert [note.path for note in result.annotations] == ["a.py"]


async def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    result, _ = await step(tmp_path, "head -c 100000 /dev/urandom; exit 1")
    assert not result.passed
    assert result.model_dump_json()


async def test_annotations_name_only_lines_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\ntwo\n")
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "a_test.go").write_text("one\n" * 20)
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    lines = ["a.py:99:1: error: x", "gone.py:1:1: error: y", "link.py:1:1: error: z", "    a_test.go:12: got 3 want 4"]
    (tmp_path / "log").write_text("\n".join(lines))
    result, _ = await step(tmp_path, "cat log; exit 1")
    assert [(note.path, note.start_line) for note in result.annotations] == [("a.py", 2), ("pkg/a_test.go", 12)]


async def test_a_green_test_prints_no_findings_but_a_green_lint_may_warn(tmp_path: Path) -> None:
    (tmp_path / "a.js").write_text("x\n")
    (tmp_path / "log").write_text("a.js:1:1: warning: odd\na.js:1:2: error: shown by a test\n")
    assert (await step(tmp_path, "cat log"))[0].annotations == ()
    (note,) = (await step(tmp_path, "cat log", stage="lint"))[0].annotations
    assert (note.level, note.message) == ("warning", "odd")


async def test_an_output_bomb_ends(tmp_path: Path) -> None:
    result, log = await step(tmp_path, "head -c 50000000 /dev/zero | tr '\\0' 'a'; exit 1")
    assert not result.passed
    assert len(log) < 5_000_000
    assert len(result.output) <= 5000


REPORT = (
    '<testsuites><testsuite><testcase name="adds"><failure message="m">a.py:2: from the report</failure></testcase>'
    "</testsuite></testsuites>"
)


async def with_report(tree: Path, command: str, stage: str = "test") -> ValidationStep:
    (tree / "a.py").write_text("one\ntwo\n")
    (tree / "new.xml").write_text(REPORT)
    box = await open_sandbox("none", ())
    wanted = ShellCommand(run=command, timeout_s=30, report="out.xml")
    return (await run_step(stage, wanted, tree, box, grant=SandboxGrant(), mask=Redactor().mask)).step


async def test_the_places_of_a_report_come_in_place_of_those_in_the_output(tmp_path: Path) -> None:
    step = await with_report(tmp_path, "cp new.xml out.xml; echo a.py:1:1: error: from the output; exit 1")
    assert [(note.path, note.start_line, note.message, note.title) for note in step.annotations] == [
        ("a.py", 2, "from the report", "adds")
    ]
    assert step.output == "a.py:1:1: error: from the output"


@pytest.mark.parametrize(
    ("write", "why"),
    [
        ("true", "the check wrote no such file"),
        ("echo '<testsuite>' > out.xml", "no complete XML"),
        ("ln -s /etc/passwd out.xml", "symbolic link"),
        ("sed s/a.py/gone.py/ new.xml > out.xml", "names no place"),
    ],
)
async def test_without_a_good_report_the_output_is_read_and_that_is_said(tmp_path: Path, write: str, why: str) -> None:
    step = await with_report(tmp_path, f"{write}; echo a.py:1:1: error: from the output; exit 1")
    assert [note.message for note in step.annotations] == ["from the output"]
    assert "The report `out.xml` of this check could not be used" in step.output
    assert why in step.output
    assert step.output.startswith("a.py:1:1")


async def test_an_old_report_says_nothing_about_this_run(tmp_path: Path) -> None:
    (tmp_path / "out.xml").write_text(REPORT)
    step = await with_report(tmp_path, "echo a.py:1:1: error: from the output; exit 1")
    assert [note.message for note in step.annotations] == ["from the output"]
    assert "old one" in step.output


async def test_a_report_does_not_make_a_green_check_red_or_a_red_one_green(tmp_path: Path) -> None:
    green = await with_report(tmp_path, "cp new.xml out.xml; echo all good")
    assert (green.passed, green.annotations, green.output) == (True, (), "all good")
    red = await with_report(tmp_path, "echo '<testsuites/>' > out.xml; exit 1")
    assert not red.passed


async def test_a_command_in_a_directory_below_names_files_from_there_or_from_the_tree(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "a.py").write_text("one\ntwo\n")
    (tmp_path / "a.py").write_text("one\n")
    (tmp_path / "log").write_text("a.py:2:1: error: x\npkg/a.py:1:1: error: y\n")

    async def run() -> ValidationStep:
        box = await open_sandbox("none", ())
        command = ShellCommand(run="cat log; exit 1", timeout_s=30, directory="pkg")
        return (await run_step("test", command, tmp_path, box, grant=SandboxGrant(), mask=Redactor().mask)).step

    notes = (await run()).annotations
    assert [(note.path, note.start_line) for note in notes] == [("pkg/a.py", 2), ("pkg/a.py", 1)]


def _read_so_far() -> int:
    return int(re.search(r"rchar: (\d+)", Path("/proc/self/io").read_text())[1])  # type: ignore[index]


async def test_hundreds_of_sparse_files_named_in_a_log_are_not_read(tmp_path: Path) -> None:
    for number in range(300):
        with (tmp_path / f"f{number}.py").open("wb") as file:
            file.truncate((45 << 20) if number % 2 else (10 << 30))
    (tmp_path / "real.py").write_text("one\ntwo\n")
    names = "; ".join(f"echo f{number}.py:1:1: E501 long" for number in range(300))
    before = _read_so_far()
    result, _ = await step(tmp_path, f"echo real.py:2:1: E501 long; {names}; exit 1", stage="lint")
    assert _read_so_far() - before < 100 << 20
    assert {note.path for note in result.annotations} == {"real.py"}


async def test_many_files_of_some_size_are_read_up_to_a_bound(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"f{number}.py").write_bytes(b"x = 1\n" * 1_000_000)
    names = "; ".join(f"echo f{number}.py:900000:1: E501 long" for number in range(40))
    result, _ = await step(tmp_path, f"{names}; exit 1", stage="lint")
    assert 5 <= len(result.annotations) <= 11


async def test_what_is_made_of_a_log_is_never_made_on_the_event_loop(tmp_path: Path) -> None:
    """A short one too: the files that it names may be hundreds."""
    threads = []

    def mask(text: str) -> str:
        threads.append(threading.current_thread())
        return text

    await step(tmp_path, "echo a.py:1:1: E501 long; exit 1", stage="lint", mask=mask)
    assert threads and threading.main_thread() not in threads
