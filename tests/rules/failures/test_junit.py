"""JUnit reports as test cases, and what is no such report as a reason (T33)."""

from __future__ import annotations

import time

import pytest

from bot.reports.locale.reasons import english
from bot.rules.failures.junit import Unreadable, read_junit
from tests.machine import CPU_S

BOMB = "<!DOCTYPE a [<!ENTITY b 'xxxxxxxxxx'>" + "".join(f"<!ENTITY b{n} '&b;&b;&b;&b;'>" for n in range(9)) + "]>"


def test_each_case_has_its_outcome_and_the_place_of_its_suite() -> None:
    cases = read_junit(
        "<testsuites><testsuite name='s' file='a.py'><testcase name='p'/>"
        "<testcase name='k' line='7'><skipped/></testcase>"
        "<testcase name='f' file='b.py'><failure message='m'>text</failure><skipped/></testcase>"
        "<testcase name='e'><error/></testcase></testsuite></testsuites>"
    )
    assert isinstance(cases, list)
    assert [(case.name, case.outcome, case.file, case.line) for case in cases] == [
        ("p", "passed", "a.py", None),
        ("k", "skipped", "a.py", 7),
        ("f", "failed", "b.py", None),
        ("e", "failed", "a.py", None),
    ]
    assert cases[2].failures == [("m", ["text"])]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no complete XML"),
        ("<testsuite><testcase>", "no complete XML"),
        ("<html></html>", "begins with `<html>`"),
        ("<a>" * 50_000, "no JUnit"),
        ("<testsuite>" * 50_000, "nested"),
        (BOMB + "<testsuites>&b8;</testsuites>", "document type"),
        ("<!DOCTYPE a SYSTEM 'file:///etc/passwd'><testsuites/>", "document type"),
    ],
)
def test_what_is_no_report_is_a_reason(text: str, why: str) -> None:
    began = time.process_time()
    read = read_junit(text)
    assert isinstance(read, Unreadable)
    assert why in english(read.reason)
    assert time.process_time() - began < CPU_S
