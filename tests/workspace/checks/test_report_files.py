"""Report files as what they are: files that untrusted code wrote (T33)."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.model import Annotation
from bot.reports.format.redact import Redactor
from bot.reports.locale.reasons import english
from bot.rules.failures.junit import Unreadable
from bot.rules.failures.log_lines import LINE_LIMIT
from bot.workspace.checks.report_files import MAX_REPORT_BYTES, ReportFile
from tests.machine import CPU_S

JUNIT = (
    '<testsuites><testsuite><testcase name="t"><failure message="m">a.py:2: %s</failure></testcase>'
    "</testsuite></testsuites>"
)


def after(tree: Path, write: Callable[[], object], path: str = "out/r.xml") -> tuple[Annotation, ...] | Unreadable:
    """What is read of a report that `write` writes, as a check would."""
    report = ReportFile.before_the_run(tree, path)
    assert report is not None
    write()
    found = report.parse("test", Redactor().mask)
    return found if isinstance(found, Unreadable) else found.annotations


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "tree" / "out").mkdir(parents=True)
    return tmp_path / "tree"


def test_junit_and_sarif_are_told_apart_by_their_content(tree: Path) -> None:
    read = after(tree, lambda: (tree / "out/r.xml").write_text(JUNIT % "bad"))
    assert isinstance(read, tuple)
    assert [(note.path, note.start_line, note.message, note.title) for note in read] == [("a.py", 2, "bad", "t")]
    place = {"physicalLocation": {"artifactLocation": {"uri": "b.py"}, "region": {"startLine": 4}}}
    sarif = {"version": "2.1.0", "runs": [{"results": [{"message": {"text": "x"}, "locations": [place]}]}]}
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        content = json.dumps(sarif).encode(encoding)
        read = after(tree, lambda content=content: (tree / "out/r.xml").write_bytes(content))  # type: ignore[misc]
        assert isinstance(read, tuple), read
        assert [(note.path, note.start_line) for note in read] == [("b.py", 4)]


def test_an_old_report_does_not_count_and_the_same_content_written_anew_does(tree: Path) -> None:
    (tree / "out/r.xml").write_text(JUNIT % "bad")
    old = after(tree, lambda: None)
    assert isinstance(old, Unreadable)
    assert "old" in english(old.reason)
    assert isinstance(after(tree, lambda: (tree / "out/r.xml").write_text(JUNIT % "bad")), tuple)


def test_a_check_without_a_report_has_none(tree: Path) -> None:
    assert ReportFile.before_the_run(tree, None) is None
    gone = after(tree, lambda: None)
    assert isinstance(gone, Unreadable)
    assert "no such file" in english(gone.reason)


def _link(tree: Path, secret: Path) -> None:
    (tree / "out/r.xml").symlink_to(secret)


def _link_above(tree: Path, secret: Path) -> None:
    (tree / "out").rmdir()
    (tree / "out").symlink_to(secret.parent)


def _pipe(tree: Path, secret: Path) -> None:
    os.mkfifo(tree / "out/r.xml")


def _device(tree: Path, secret: Path) -> None:
    (tree / "out/r.xml").symlink_to("/dev/zero")


def _huge(tree: Path, secret: Path) -> None:
    with (tree / "out/r.xml").open("wb") as file:
        file.truncate(MAX_REPORT_BYTES + 1)


def _enormous(tree: Path, secret: Path) -> None:
    with (tree / "out/r.xml").open("wb") as file:
        file.truncate(1 << 40)


def _directory(tree: Path, secret: Path) -> None:
    (tree / "out/r.xml").mkdir()


@pytest.mark.parametrize("attack", [_link, _link_above, _pipe, _device, _huge, _enormous, _directory])
def test_an_attack_is_refused_at_once_and_shows_nothing(
    tree: Path, tmp_path: Path, attack: Callable[[Path, Path], None]
) -> None:
    """T33: links, links among the parents, pipes, devices and huge files are refused, and no secret appears."""
    secret = tmp_path / "outside" / "r.xml"
    secret.parent.mkdir()
    secret.write_text(JUNIT % "THE-APP-KEY")
    began = time.process_time()
    read = after(tree, lambda: attack(tree, secret))
    assert isinstance(read, Unreadable)
    assert "THE-APP-KEY" not in english(read.reason)
    assert time.process_time() - began < CPU_S


@pytest.mark.parametrize("path", ["/etc/passwd", "../r.xml", "out/../../r.xml", "", " ", ".git/config", "a\0b", "."])
def test_a_path_that_leaves_the_tree_is_refused(tree: Path, path: str) -> None:
    (tree.parent / "r.xml").write_text(JUNIT % "bad")
    read = after(tree, lambda: (tree.parent / "r.xml").write_text(JUNIT % "worse"), path)
    assert isinstance(read, Unreadable)
    assert "path must be relative" in english(read.reason)


def test_secrets_and_controls_are_gone_also_where_the_format_hides_them(tree: Path) -> None:
    token = "ghs_" + "a1B2" * 10
    hidden = "".join(f"&#{ord(char)};" for char in token)
    read = after(tree, lambda: (tree / "out/r.xml").write_text(JUNIT % f"{token} {hidden} &#8238;"))
    assert isinstance(read, tuple)
    told = "".join(note.model_dump_json() for note in read)
    assert token not in told
    assert "\u202e" not in read[0].message


def test_a_secret_across_the_end_of_what_is_kept_of_a_line_leaves_no_half(tree: Path) -> None:
    token = "ghs_" + "a1B2" * 10
    line = "x" * (LINE_LIMIT - len("a.py:2: ") - 20) + " " + token
    read = after(tree, lambda: (tree / "out/r.xml").write_text(JUNIT % line))
    assert isinstance(read, tuple)
    assert "ghs_a1" not in read[0].message


def test_a_message_of_any_length_is_cut(tree: Path) -> None:
    text = (
        JUNIT.replace('message="m"', f'message="{"x" * 100_000}"')
        .replace("a.py:2: %s", "")
        .replace('name="t"', 'name="t" file="a.py"')
    )
    read = after(tree, lambda: (tree / "out/r.xml").write_text(text))
    assert isinstance(read, tuple)
    assert len(read[0].message) <= 4_000
