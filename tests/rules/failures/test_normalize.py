"""The normal form of an error: the same one on every machine and day, and no two errors in one (REQ-RA-310)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.rules.failures.normalize import loose_key, normalize_error

# the same error on two machines, days or checkouts
SAME = [
    ("/home/ann/shop/src/index.ts(12,5): error TS2345: no", "src/index.ts(9,1): error TS2345: no"),
    ("C:\\Users\\ann\\shop\\index.ts:12:5 - error TS2322: no", "/srv/ci/shop/index.ts:1:2 - error TS2322: no"),
    ('  File "/home/ann/my shop/a.py", line 3, in f', '  File "/builds/x/a.py", line 99, in f'),
    ("at run (/a/b/z.test.js:5:10)", "at run (/c/z.test.js:6:1)"),
    ("at load (node:internal/modules/cjs/loader:1080:15)", "at load (node:internal/modules/cjs/loader:999:1)"),
    ("tests/test_a.py:12: AssertionError", "tests/test_a.py:13: AssertionError"),
    ("FAILED tests/test_a.py::test_x in 0.12s", "FAILED tests/test_a.py::test_x in 1.5s"),
    ("2024-01-01T10:00:00.123Z error: boom", "error: boom"),
    ("[10:00:00] error: boom", "[11:22:33] error: boom"),
    ("expired on Mon Jan 6 10:00:00 UTC 2025", "expired on Tue Feb 11 01:02:03 UTC 2026"),
    ("expired on 2025-01-17", "expired on 2026-02-18"),
    ("Exceeded timeout of 5000 ms", "Exceeded timeout of 10000 ms"),
    ("took 1m 2.5s", "took 59s"),
    ("<Shop object at 0x7f1234567890>", "<Shop object at 0x7f00aabbccdd>"),
    ("main.run(0x0) app.go:3 +0x1d", "main.run(0x0) app.go:9 +0x2f4"),
    ("job 123e4567-e89b-12d3-a456-426614174000 failed", "job 00000000-0000-4000-8000-00000000000a failed"),
    ("commit a1b2c3d4e5 failed", "commit 0f9e8d7c6b5a failed"),
    ("ECONNREFUSED 127.0.0.1:54321", "ECONNREFUSED 127.0.0.1:40123"),
    ("ENOENT: '/tmp/tmpab12cd34'", "ENOENT: '/tmp/tmpzz99yy88'"),
    ("ENOENT: '/tmp/tmpab12cd34/x.json'", "ENOENT: '/var/folders/q/T/x.json'"),
    ("\x1b[31merror\x1b[0m: boom", "error: boom"),
    ("Unexpected token < in JSON at position 17", "Unexpected token < in JSON at position 4"),
    ("assets/main.a1b2c3d4.js is missing", "assets/main.99887766aa.js is missing"),
    ("  2:10  error  'a' is unused  no-unused-vars", " 44:1   error  'a' is unused  no-unused-vars"),
    ("> 12 | foo()", ">  9 | foo()"),
    ("file:///home/ann/y.mjs:3:4", "file:///srv/y.mjs:9:9"),
    ("guide.rst:5: D000 Bad list", "guide.rst:77: D000 Bad list"),
    (
        "::error file=/a/x.py,line=1,col=2,endLine=3,endColumn=4::no",
        "::error file=/b/x.py,line=9,col=8,endLine=7,endColumn=66::no",
    ),
]
DIFFERENT = [
    ("error TS2345: no", "error TS2322: no"),
    ("a.py:1:1: E501 line too long", "a.py:1:1: E502 line too long"),
    ("src/a.ts(1,1): error", "src/b.ts(1,1): error"),
    ("Expected 3 but got 4", "Expected 3 but got 5"),
    ("assert 5 == 7", "assert 5 == 8"),
    ("connect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED 127.0.0.1:6379"),
    ("exit code 0xC0000005", "exit code 0xC0000374"),
    ("rule import/no-unresolved", "rule import/no-cycle"),
    ("Cannot find module '@/a/Button'", "Cannot find module '@/b/Button'"),
    ("HTTP 404", "HTTP 500"),
    ("line too long (121 > 120)", "line too long (122 > 120)"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_changes_between_runs_is_masked(one: str, other: str) -> None:
    """REQ-RA-310."""
    assert normalize_error(one) == normalize_error(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_what_tells_errors_apart_is_kept(one: str, other: str) -> None:
    """REQ-RA-310."""
    assert normalize_error(one) != normalize_error(other)


def test_the_base_name_of_a_path_stays() -> None:
    """REQ-RA-310."""
    assert normalize_error("/home/ann/shop/src/index.ts: bad") == "<PATH>/index.ts: bad"
    assert normalize_error("see ./components/Button and src/app/page.tsx") == "see <PATH>/Button and <PATH>/page.tsx"


@pytest.mark.parametrize(
    "text",
    [
        "and/or import/no-unresolved @scope/package react/no-danger",
        "</div> is not closed, see https://example.org/a/b.html",
        "May 5 tests fail",
        "e501 facade decade",
        "1/2 of the tests",
    ],
)
def test_what_only_looks_masked_stays(text: str) -> None:
    assert normalize_error(text) == text


def test_the_looser_key_masks_strings_and_numbers_but_no_codes() -> None:
    """REQ-RA-310."""
    one = "src/a.ts(1,2): error TS2345: Argument 'x' is 5 not \"y\""
    other = "b/a.ts(7,2): error TS2345: Argument 'zz' is 77 not \"q\""
    assert normalize_error(one) != normalize_error(other)
    assert loose_key(one) == loose_key(other)
    assert "TS2345" in loose_key(one)
    assert loose_key("it doesn't work and can't") == "it doesn't work and can't"


def test_a_long_error_is_cut() -> None:
    """REQ-RA-310."""
    assert normalize_error("error: " + "word " * 1000) == ("error: " + "word " * 1000)[:200].strip()
    assert len(loose_key("error " + "7 " * 1000)) <= 200


@given(st.text(max_size=400))
def test_the_normal_form_is_one_short_trimmed_line(text: str) -> None:
    normal = normalize_error(text)
    assert len(normal) <= 200
    assert normal == normal.strip()
    assert not any(char in normal for char in "\n\r\x1b\x00")


TOKENS = st.sampled_from(
    [
        "error",
        "/a/b/c.py:3",
        "0x7f1234567890",
        "'quoted 5'",
        "12ms",
        "10:00:00",
        "TS2345",
        "a1b2c3d4e5",
        "line 7,",
        "src/x.ts",
    ]
)


@given(st.lists(TOKENS, max_size=8))
def test_the_normal_form_of_a_normal_form_is_itself(words: list[str]) -> None:
    normal = normalize_error(" ".join(words))
    assert normalize_error(normal) == normal
    assert loose_key(normal) == loose_key(" ".join(words))


@given(st.text(alphabet="abcdefgh", min_size=1, max_size=8), st.integers(1, 9999), st.integers(1, 9999))
def test_a_file_keeps_its_key_wherever_it_lies_and_the_error_stands(directory: str, line: int, column: int) -> None:
    there = normalize_error(f"/home/ann/{directory}/index.ts:{line}:{column}: error TS1005: ';' expected.")
    assert there == normalize_error("src/index.ts:1:1: error TS1005: ';' expected.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("AssertionError: expected '/a/x' to be '/b/x'", "AssertionError: expected '/c/x' to be '/d/x'"),
        ("AssertionError: '/base/base' != '/base'", "AssertionError: '/other/base' != '/base'"),
        ("assert 'src/a.py' == 'lib/a.py'", "assert 'src/a.py' == 'doc/a.py'"),
        ('Expected: "/base/x" Received: "/base/base"', 'Expected: "/base/x" Received: "/x/base"'),
    ],
)
def test_two_quoted_paths_in_an_assertion_are_two_errors(one: str, other: str) -> None:
    """REQ-RA-310."""
    assert normalize_error(one) == one
    assert normalize_error(one) != normalize_error(other)


def test_a_path_of_this_machine_alone_is_masked_in_an_assertion_too() -> None:
    here, there = (f"AssertionError: '{home}/shop/a.json' != 'b.json'" for home in ("/home/anna", "/Users/ben"))
    assert normalize_error(here) == normalize_error(there) == "AssertionError: '<PATH>/a.json' != 'b.json'"
    assert normalize_error("expected /srv/a/x.py:3: to be") == "expected <PATH>/x.py:<POS>: to be"
