"""What can be planned without a model: from an issue's words to files, goals, symbols and tests."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.planner import architecture, covering_tests, definitions, design, named_files, plan, symbols
from tests.machine import CPU_S

FILES = (
    "Makefile", "src/shop/__init__.py", "src/shop/cart.py", "src/shop/util.py", "src/other/util.py",
    "src/shop/money/__init__.py", "tests/test_cart.py", "tests/other/test_cart.py",
    "web/app.ts", "web/app.test.ts", "web/app/[id]/page.tsx",
    "go/sum.go", "go/sum_test.go", ".github/dependabot.yml",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("src/shop/cart.py is wrong", ("src/shop/cart.py",)),
        ("`./src/shop/cart.py:12`", ("src/shop/cart.py",)),
        ("see cart.py.", ("src/shop/cart.py",)),
        ("(see cart.py)", ("src/shop/cart.py",)),
        ("util.py is ambiguous", ()),
        ("shop/util.py is not", ("src/shop/util.py",)),
        ("src\\shop\\cart.py on Windows", ("src/shop/cart.py",)),
        ('  File "/home/me/checkout/src/shop/cart.py", line 3, in total', ("src/shop/cart.py",)),
        ("    at total (/srv/x/web/app.ts:10:3)", ("web/app.ts",)),
        ("    at Page (webpack:///web/app/[id]/page.tsx?a1:3:1)", ("web/app/[id]/page.tsx",)),
        ("shop.cart.Cart.total fails", ("src/shop/cart.py",)),
        ("import shop.money", ("src/shop/money/__init__.py",)),
        ("FAILED tests/test_cart.py::test_total - assert", ("tests/test_cart.py",)),
        ("first web/app.ts, then cart.py, then web/app.ts", ("web/app.ts", "src/shop/cart.py")),
        ("run the Makefile", ("Makefile",)),
        ("in .github/dependabot.yml.", (".github/dependabot.yml",)),
        ("mycart.py, cart.pyc, art.py", ()),
        ("nothing here", ()),
        ("", ()),
    ],
)
def test_files_that_a_text_names_are_found(text: str, expected: tuple[str, ...]) -> None:
    assert named_files(text, FILES) == expected


def test_tests_that_belong_to_a_file_are_found_nearest_first() -> None:
    assert covering_tests("src/shop/cart.py", FILES) == ("tests/other/test_cart.py", "tests/test_cart.py")
    assert covering_tests("web/app.ts", FILES) == ("web/app.test.ts",)
    assert covering_tests("go/sum.go", FILES) == ("go/sum_test.go",)
    assert covering_tests("src/Foo.java", ["src/Foo.java", "t/FooTest.java"]) == ("t/FooTest.java",)
    assert covering_tests("Makefile", FILES) == ()


def test_symbols_are_what_stands_in_backticks_or_is_called() -> None:
    assert symbols("`Cart.total()` calls round(x), not `some words` nor `a - b`; `MAX`") == (
        "Cart.total",
        "round",
        "MAX",
    )


def test_definitions_are_found_in_common_languages() -> None:
    assert definitions("class A:\n    async def b(self): ...\nX = 1\n") == ("A", "b")
    assert definitions("export default function a() {}\nexport const b = 1\ninterface C {}\n") == ("a", "b", "C")
    assert definitions("func (s *S) Total() int {\ntype S struct {\npub fn go() {\n") == ("Total", "S", "go")


BODY = """\
`Cart.total` in cart.py adds floats.

It should round to cents. I saw it on Monday.

<!-- the template must go -->
```python
assert should_not_be_a_goal()
```

- [ ] totals are rounded
- [x] a test shows it
"""


def test_the_three_records_follow_from_an_issue() -> None:
    """REQ-RUN-002."""
    made = plan("Cart total is wrong", BODY, FILES, focus=("Makefile",))
    assert made == {
        "title": "Cart total is wrong",
        "goals": ["Cart total is wrong", "It should round to cents."],
        "doneCriteria": ["totals are rounded", "a test shows it"],
        "files": ["Makefile", "src/shop/cart.py"],
        "symbols": ["Cart.total", "should_not_be_a_goal"],
    }
    contents = {
        "src/shop/cart.py": "class Cart:\n    def total(self): ...\n",
        "tests/test_cart.py": "from shop.cart import Cart\n",
        "src/shop/util.py": "broken (",
    }
    built = architecture(made, FILES, contents)
    assert built["components"][1] == {
        "path": "src/shop/cart.py",
        "defines": ["Cart", "total"],
        "tests": ["tests/other/test_cart.py", "tests/test_cart.py"],
        "importedBy": ["tests/test_cart.py"],
    }
    assert built["languages"] == [".py"]
    assert design(made, built) == {
        "steps": [
            "Change Makefile.",
            "Change `total` in src/shop/cart.py.",
            "Adjust tests/other/test_cart.py, tests/test_cart.py.",
            "Run the checks.",
        ],
        "changes": [{"path": "Makefile", "symbols": []}, {"path": "src/shop/cart.py", "symbols": ["total"]}],
        "tests": ["tests/other/test_cart.py", "tests/test_cart.py"],
    }


def test_an_issue_without_a_body_still_makes_a_plan() -> None:
    made = plan("Fix it", "", ())
    assert made["goals"] == ["Fix it"]
    assert made["doneCriteria"] == ["Fix it", "All checks pass."]
    assert design(made, architecture(made, (), {}))["steps"][0] == "Find the place that the task is about."


@pytest.mark.parametrize(
    "piece", ["-", "a.", "/a", "\n", "`a", " ", "```", "<!--", "a(", "\n- ", ".", "(\n", "\n \n#", "'", "\n- [ ]"]
)
def test_hostile_text_costs_little(piece: str) -> None:
    began = time.process_time()
    made = plan("x", piece * (200_000 // len(piece)), FILES)
    definitions(piece * (200_000 // len(piece)))
    assert made["title"] == "x"
    assert time.process_time() - began < CPU_S


@given(st.text(), st.lists(st.text(min_size=1), max_size=5))
def test_any_text_makes_records_whose_files_exist(text: str, files: list[str]) -> None:
    made = plan(text[:20], text, files)
    built = architecture(made, files, dict.fromkeys(files, text))
    assert set(made["files"]) <= set(files)
    assert design(made, built)["steps"]
