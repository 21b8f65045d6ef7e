"""Finds code that makes a check pass without a fix: hooks that decide outcomes, files in place of a runner, code
that asks whether tests run it, assertions that are replaced. It matches the text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.model.reasons import Reason
from bot.rules.reasons import make_reason

_PYTHON = re.compile(r"\.pyi?$")
_JAVASCRIPT = re.compile(r"\.(?:[cm]?[jt]sx?|vue|svelte)$")
_STANDS_IN = re.compile(
    r"(?:^|/)(?:site|user)customize\.py$|(?:^|/)node_modules/\.bin/[^/]+$"
    r"|^(?:src/)?(?:pytest|_pytest|unittest|doctest|ruff|mypy)(?:\.py|/__(?:init|main)__\.py)$"
)
"""Files that are found before a runner of that name, or that Python runs before it."""
_TARGET_FILE = re.compile(r"^(?:test|tests|check|lint|typecheck)$")
"""Make takes a target for done where a file has its name."""
_HOOK = re.compile(
    r"^[ \t]*(?:async[ \t]+)?def[ \t]+(pytest_(?:runtest_(?:makereport|protocol|call|logreport)|runtestloop|pyfunc_call"
    r"|report_teststatus|sessionfinish|cmdline_main|collection_modifyitems)"
    r"|load_tests)\b",
    re.MULTILINE,
)
_ASKS = re.compile(
    r"\bPYTEST_CURRENT_TEST\b|\bPYTEST_VERSION\b|['\"](?:pytest|unittest)['\"]\s+(?:not\s+)?in\s+sys\.modules\b"
    r"|\bNODE_TEST_CONTEXT\b|\bJEST_WORKER_ID\b|\bVITEST(?:_\w+)?\b|\bflag\.Lookup\(\"test\.|\btesting\.Testing\(\)"
    r"|\bcfg!\(test\)"
)
_REPLACED = re.compile(
    r"(?:\bassert|\brequire\(['\"](?:node:)?assert(?:/strict)?['\"]\))(?:\.strict)?\.\w+\s*=(?![=>])"
    r"|\b(?:globalThis|global)\.(?:test|it|describe|expect|assert)\s*=(?![=>])"
)
_LEAVES = re.compile(r"\bos\._exit\(0\)")
_STUBS = re.compile(
    r"\bmonkeypatch\.(?:setattr|setitem)\b|\bmock(?:er)?\.patch\b|^[ \t]*@?patch(?:\.object)?\("
    r"|\bsys\.modules\[[^\]\n]+\]\s*=|\b(?:jest|vi)\.(?:mock|spyOn|doMock)\(|\bmock\.(?:method|module)\(",
    re.MULTILINE,
)
_PANICS = re.compile(r"^[ \t]*#\[should_panic\b", re.MULTILINE)
_RUST_TEST = re.compile(r"#\[(?:\w+::)*(?:test|rstest|test_case)\b")


def forced_passes(path: str, before: str | None, after: str | None, *, tests: bool) -> Iterator[Reason]:
    """A reason for each way in which the change of one file forces checks to pass. `tests`: the file is a test or
    supports tests, so it may ask which runner runs it and bring its own assertions."""
    if after is None:
        return
    if before is None and _STANDS_IN.search(path):
        yield make_reason("rigged.stands_in", path=path)
    if before is None and _TARGET_FILE.match(path):
        yield make_reason("rigged.target_file", path=path)
    if _PYTHON.search(path):
        hooks = sorted(set(_HOOK.findall(after)) - set(_HOOK.findall(before or "")))
        if hooks:
            yield make_reason("rigged.hooks", path=path, names=", ".join(hooks))
    if _turned_round(before or "", after):
        yield make_reason("rigged.panics", path=path)
    if tests:
        return
    if _PYTHON.search(path) and _more(_LEAVES, before, after):
        yield make_reason("rigged.leaves", path=path)
    asked = _more(_ASKS, before, after)
    if asked:
        yield make_reason("rigged.asks", path=path, what=asked)
    replaced = _more(_REPLACED, before, after) if _JAVASCRIPT.search(path) else ""
    if replaced:
        yield make_reason("rigged.replaces", path=path, what=replaced.rstrip(" ="))


def stubbed_code(path: str, before: str | None, after: str | None) -> Iterator[Reason]:
    """A reason where a file that tests share replaces code, in a change of tests alone."""
    stub = _more(_STUBS, before, after or "")
    if stub:
        yield make_reason("rigged.stubs", path=path, what=stub.strip(" =("))


def _turned_round(before: str, after: str) -> bool:
    """Whether the change makes more existing Rust tests expect a panic than it adds tests."""
    panics, tests = (len(one.findall(after)) - len(one.findall(before)) for one in (_PANICS, _RUST_TEST))
    return panics > max(0, tests)


def _more(pattern: re.Pattern[str], before: str | None, after: str) -> str:
    """The last match, where the text has more of them than before; else empty."""
    found = [match[0] for match in pattern.finditer(after)]
    return found[-1] if len(found) > len(pattern.findall(before or "")) else ""
