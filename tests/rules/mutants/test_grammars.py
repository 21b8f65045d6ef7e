"""Which files are parsed by which grammar, and that a partial parse finds the same errors as a whole one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bot.rules.mutants.grammars import Grammar, grammar_of, parse_replaced
from bot.rules.syntax import parse


@pytest.mark.parametrize(
    ("path", "grammar"),
    [
        ("a.py", "python"),
        *((f"src/a.{end}", "javascript") for end in ("js", "mjs", "cjs", "jsx", "JS")),
        *((f"a.{end}", "typescript") for end in ("ts", "mts", "cts")),
        ("a.tsx", "tsx"),
        *((path, None) for path in ("a.pyi", "a.go", "py", "a.py/README", "a.vue")),
    ],
)
def test_the_name_of_a_file_gives_its_grammar(path: str, grammar: Grammar | None) -> None:
    assert grammar_of(path) == grammar


@pytest.mark.parametrize(
    ("grammar", "text", "error"),
    [
        ("python", "x = 1\n", False),
        ("python", "x = = 1\n", True),
        ("javascript", "const a = <p>{b}</p>;\n", False),
        ("typescript", "const a = <any>b;\n", False),
        ("typescript", "const a = <p>{b}</p>;\n", True),
        ("tsx", "const a: number = <p>{b}</p>;\n", False),
    ],
)
def test_an_error_is_found_by_a_whole_and_by_a_partial_parse(grammar: Grammar, text: str, error: bool) -> None:
    source = text.encode()
    assert parse(grammar, source).root_node.has_error is error
    before = b"#" if grammar == "python" else b"//"
    commented = before + source
    tree = parse(grammar, commented)
    assert not tree.root_node.has_error
    replaced = parse_replaced(grammar, tree, commented, (0, len(before)), b"")
    assert replaced.root_node.has_error is error
    assert str(replaced.root_node) == str(parse(grammar, source).root_node)


def test_no_grammar_is_loaded_before_a_file_is_parsed() -> None:
    program = "import sys, bot.rules.mutants.generate; sys.exit(any('tree_sitter' in name for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
