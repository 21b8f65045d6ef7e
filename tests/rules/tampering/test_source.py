"""Which files hold tests, by the usual habits of their tools."""

from __future__ import annotations

from bot.rules.tampering.test_source import is_test


def test_a_test_is_known_by_its_name_or_directory() -> None:
    assert all(
        map(is_test, ("tests/x.py", "a/test_x.py", "x_test.go", "x.spec.ts", "FooTest.java", "a/__tests__/x.js"))
    )
    assert not any(map(is_test, ("src/latest.py", "contest.py", "testing.md", "src/x.py")))
