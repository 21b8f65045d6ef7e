"""Syntax trees of untrusted texts: by grammar, within limits."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time

import pytest

from bot.rules.syntax import MAX_BYTES, OverLimit, grammar_of, parse
from tests.machine import CPU_S

GRAMMARS = ("python", "javascript", "typescript", "tsx", "go", "rust", "java", "ruby", "php")


def test_the_grammar_goes_by_the_suffix() -> None:
    paths = ("a.py", "a.mjs", "a.cts", "a.tsx", "a.go", "a.rs", "A.java", "a.rb", "a.PHP", "a.kt", "Makefile", "a")
    assert [grammar_of(path) for path in paths] == [*GRAMMARS, "", "", ""]


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_every_grammar_parses_within_its_limits(grammar: str) -> None:
    assert not parse(grammar, b"").root_node.has_error
    started = time.process_time()
    for piece in (b"(", b"`", b"a.", b"if(a)", b'"'):
        with contextlib.suppress(OverLimit):
            parse(grammar, piece * 20_000)
    assert time.process_time() - started < CPU_S
    with pytest.raises(OverLimit):
        parse(grammar, b"(" * (MAX_BYTES + 1))


def test_what_takes_too_long_is_given_up() -> None:
    with pytest.raises(OverLimit):
        parse("javascript", b"->" * 100_000)


def test_what_takes_its_memory_at_the_end_is_given_up_before() -> None:
    """4 KB of it took 1.4 GB."""
    with pytest.raises(OverLimit):
        parse("java", b"a=>" * 2_000)
    with pytest.raises(OverLimit):
        parse("java", (b"a=>" * 100 + b";") * 300)
    with pytest.raises(OverLimit):
        parse("java", b"a<b<" * 15_000)
    members = b"@Test void adds() { assertEquals(3, add(1, 2)); List<Map<A, B>> rows = list(x -> y); }\n"
    assert not parse("java", b"class A {\n" + members * 2_000 + b"}\n").root_node.has_error


def test_an_idle_process_loads_no_grammar() -> None:
    code = "import bot.rules.tampering.weakened_tests, sys; sys.exit('tree_sitter' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
