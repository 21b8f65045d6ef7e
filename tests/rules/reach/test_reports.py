"""Reports of probes and V8's coverage, as untrusted code may write them."""

from __future__ import annotations

import json

import pytest

from bot.rules.reach.reports import Reports, read_coverage, read_reports


def test_each_kind_of_report_is_read() -> None:
    lines = [
        ["process", 7],
        ["process", 8, "/place/v8"],
        ["ran", "a.py", 3, "f"],
        ["opened", "b.py"],
        ["listed", "pkg"],
        ["doubt", "child", "sh"],
        ["doubt", "child", "sh"],
    ]
    text = "\n".join(map(json.dumps, lines))
    assert read_reports(text + "\n") == Reports(
        processes=((7, ""), (8, "/place/v8")),
        ran=frozenset({("a.py", 3, "f")}),
        opened=frozenset({"b.py"}),
        listed=frozenset({"pkg"}),
        doubts=(("child", "sh"),),
    )


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[" * 100_000,
        "null",
        "{}",
        "[]",
        '["ran", "a.py", "3", "f"]',
        '["doubt", 1, 2]',
        '["other"]',
        "x" * 999,
        "NaN",
    ],
)
def test_a_line_that_is_no_report_is_a_doubt(line: str) -> None:
    assert read_reports(f'["process", 7]\n{line}\n').doubts == (("malformed", ""),)


def test_the_details_of_a_doubt_are_one_short_line() -> None:
    ((kind, detail),) = read_reports(json.dumps(["doubt", "child", "a\n b" + "c" * 1000])).doubts
    assert (kind, detail[:4], len(detail)) == ("child", "a bc", 100)


def test_coverage_is_read_without_nodes_own_scripts() -> None:
    function = {
        "functionName": "f",
        "ranges": [{"startOffset": 0, "endOffset": 9, "count": 2}],
        "isBlockCoverage": True,
    }
    result = [
        {"url": "node:internal/x", "functions": []},
        {"url": "file:///tree/a%20b.js?v=1", "functions": [function]},
        {"url": "evalmachine.<anonymous>", "functions": []},
    ]
    scripts = read_coverage(json.dumps({"result": result}).encode())
    assert scripts is not None
    assert [(script.path, script.functions) for script in scripts] == [("/tree/a b.js", ((0, 9, 2),)), ("", ())]


def covered(functions: str) -> bytes:
    return f'{{"result": [{{"url": "file:///a.js", "functions": {functions}}}]}}'.encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"result": {}}',
        b'{"result": [1]}',
        b'{"result": [{"url": 1, "functions": []}]}',
        b'{"result": [{"url": "file:///a.js"}]}',
        covered("1"),
        covered('[{"ranges": 1}]'),
        covered('[{"ranges": [{}]}]'),
        covered('[{"ranges": [{"startOffset": "0", "endOffset": 1, "count": 1}]}]'),
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_what_is_no_coverage_is_none(content: bytes) -> None:
    assert read_coverage(content) is None
