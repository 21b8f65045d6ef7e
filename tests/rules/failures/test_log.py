"""A log is gone through once for its failed tests and once for its places, however many rules read it."""

from __future__ import annotations

from bot.rules.failures.log import read_log

REPORT = (
    '<testsuites><testsuite><testcase classname="calc" name="adds"><failure message="1 is not 2"/></testcase>\n'
    "</testsuite></testsuites>"
)


def test_tests_and_places_are_found_once() -> None:
    log = read_log("FAILED tests/test_a.py::test_adds - assert 1 == 2\n/t/shop/a.py:3:1: error: odd\n", "/t/shop")
    assert [test.name for test in log.tests.tests] == ["tests/test_a.py::test_adds"]
    assert [place.path for place in log.places] == ["tests/test_a.py", "a.py"]
    assert log.tests is log.tests and log.places is log.places


def test_a_printed_report_names_failed_tests_too() -> None:
    (test,) = read_log(f"> mocha\n{REPORT}\n").tests.tests
    assert (test.name, test.message) == ("calc › adds", "1 is not 2")
