"""Applying what models write: right, or refused with a reason, and never silently something else."""

from __future__ import annotations

import difflib
import random
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks import mutants, releases
from bot.rules.patches.diff_parser import Hunk, parse_diff
from bot.rules.patches.fuzzy_apply import Unclear, apply_fuzzily, matches_header_positions
from bot.rules.reasons import make_reason
from tests.machine import CPU_S

CODE = """\
import os


class Shop:
    def __init__(self, name):
        self.name = name
        self.stock = {}

    def add(self, item, count):
        if count < 0:
            raise ValueError("count")
        self.stock[item] = count

    def total(self):
        return sum(self.stock.values())


class Market:
    def __init__(self, name):
        self.name = name
        self.shops = []

    def open(self, shop):
        self.shops.append(shop)
        return shop

    def total(self):
        return sum(shop.total() for shop in self.shops)
"""
NEGATIVE = CODE.replace('"count"', '"no negative count"')


def hunks(*bodies: str, header: str = "@@ ... @@") -> tuple[Hunk, ...]:
    return parse_diff("".join(f"{header}\n{body}" for body in bodies))[0].hunks


def applied(text: str, *bodies: str, header: str = "@@ ... @@") -> str:
    """The text after the hunks, or the code of the reason against it."""
    new = apply_fuzzily(text, hunks(*bodies, header=header))
    return new.reason if isinstance(new, Unclear) else new


CHANGE = """-            raise ValueError("count")
+            raise ValueError("no negative count")
"""
LEFT = CHANGE.replace("            ", "")
ONE_CHANGE = {
    "without context": CHANGE,
    "moved left": LEFT,
    "moved left with context": f" if count < 0:\n{LEFT}".replace("raise", "    raise"),
    "tabs": f" \t\tif count < 0:\n{LEFT}".replace("raise", "\t\t\traise"),
    "white space at line ends": f"         if count < 0:   \n{CHANGE}".replace('("count")', '("count")\t '),
    "CRLF": f"         if count < 0:\n{CHANGE}".replace("\n", "\r\n"),
    "bare dots": f"     def __init__(self, name):\n...\n         if count < 0:\n{CHANGE}",
    "dots in a comment": f"     def add(self, item, count):\n         # ... checks ...\n{CHANGE}",
    "misremembered": f"     def add(self, item):\n         if count < 0:\n{CHANGE}         self.stock[item] = count\n",
    "left out": f"     def add(self, item, count):\n{CHANGE}         self.stock[item] = count\n",
    "a blank line left out": f"{CHANGE}         self.stock[item] = count\n     def total(self):\n",
    "context alone moved": f"   if count < 0:\n{CHANGE}",
    "context without a marker": f"    def add(self, item, count):\n        if count < 0:\n{CHANGE}",
}


@pytest.mark.parametrize("body", ONE_CHANGE.values(), ids=ONE_CHANGE)
def test_one_change_may_be_written_in_many_ways(body: str) -> None:
    assert applied(CODE, body) == NEGATIVE


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("         self.name = name\n+        self.open = True\n", "ambiguous"),
        ("     def total(self):\n+        self.check()\n", "ambiguous"),
        ("+# nowhere\n", "no_anchor"),
        (" import os\n", "no_change"),
        ("-import sys\n+import os, sys\n", "not_found"),
        ("     def elsewhere(self):\n         nothing.like(this)\n-import os\n+import sys\n", "not_found"),
        # `if count < 0` stands between them: does the new line go before it, or after it?
        ("     def add(self, item, count):\n+        check(count)\n" + CHANGE.splitlines()[0].replace("-", " ", 1)
         + "\n         self.stock[item] = count\n", "ambiguous"),
        # is the whole hunk moved to the left, or its context alone?
        (" self.shops.append(shop)\n+log(shop)\n", "indentation"),
        (CHANGE.splitlines()[0] + "\n-        self.stock[item] = count\n+        # ... rest unchanged ...\n", "elided"),
    ],
)  # fmt: skip
def test_what_is_unclear_is_refused(body: str, reason: str) -> None:
    assert applied(CODE, body) == reason


def test_added_lines_move_with_their_context_where_they_could_not_be_meant_as_they_are() -> None:
    right = CODE.replace("        return shop\n", "        log(shop)\n        return shop\n")
    assert applied(CODE, " self.shops.append(shop)\n+log(shop)\n return shop\n") == right


def test_added_lines_stay_as_they_are_where_the_context_alone_lost_its_markers_or_moved() -> None:
    body = "        self.shops.append(shop)\n+        log(shop)\n        return shop\n"
    assert applied(CODE, body) == CODE.replace("        return shop\n", "        log(shop)\n        return shop\n")
    body = "-import os\n+import re\n     class Shop:\n         def __init__(self, name):\n"
    assert applied(CODE, body) == CODE.replace("import os", "import re")


def test_a_place_must_be_clearly_better_than_another() -> None:
    file = "alpha(one)\n)\nshared = 2\nreturn shared\n\n\nbeta(two)\n]\nshared = 2\nreturn shared\n"
    body = " gamma(three)\n )\n shared = 2\n-return shared\n+return 1\n"
    assert applied(file, body) == "ambiguous"
    right = file.replace("return shared", "return 1", 1)
    assert applied(file, body.replace("gamma(three)", "alpha(one)")) == right


def test_one_line_that_stands_elsewhere_with_another_indentation_has_no_sure_place() -> None:
    file = "def f():\n    return errors\n\n\ndef g():\n    if x:\n        return errors\n"
    body = "-        return errors\n+        return None\n"
    assert applied(file, body) == "ambiguous"
    assert applied(file, "     if x:\n" + body) == file[: -len("errors\n")] + "None\n"


def test_a_changed_line_needs_a_telling_one_beside_it() -> None:
    file = "the first line\nthe second line\nthe third line\nsomething\n\nthe last line\n"
    assert applied(file, " the first line\n the second line\n the third line\n-\n") == "not_found"


def test_a_hunk_that_lacks_lines_may_fit_a_wrong_place_for_that_reason() -> None:
    filler = "".join(f"more({number})\n" for number in range(20))
    file = f"def f(\n    context,\n    arguments,\n)\n{filler}def g(\n    context,\n    value,\n    arguments,\n)\n"
    body = "     context,\n-    arguments,\n+    others,\n"
    assert applied(file, body, header="@@ -26,4 +26,4 @@") == "ambiguous"
    assert applied(file, body, header="@@ -3,4 +3,4 @@") == file.replace("arguments", "others", 1)


def test_a_line_beside_an_addition_may_be_followed_by_a_gap_elsewhere() -> None:
    assert applied(CODE, "+import sys\n import os\n class Shop:\n") == "import sys\n" + CODE


def test_what_other_hunks_show_of_the_indentation_counts_too() -> None:
    file = "import os\n\n\ndef f():\n\treturn os\n"
    bodies = " import os\n+if os:\n+    import sys\n", "-    return os\n+    return sys\n"
    assert applied(file, *bodies) == "import os\nif os:\n\timport sys\n\n\ndef f():\n\treturn sys\n"


REPEATED = "".join(f"{{\n  name: {name},\n  size: 1,\n  kind: shop,\n  open: yes,\n}}\n" for name in "abcdefgh")
BODY = "   size: 1,\n-  kind: shop,\n+  kind: market,\n   open: yes,\n"


def test_of_several_places_the_one_that_a_right_header_names_is_taken() -> None:
    lines = REPEATED.splitlines(keepends=True)
    lines[21] = "  kind: market,\n"
    assert applied(REPEATED, BODY, header="@@ -21,3 +21,3 @@") == "ambiguous"  # the next is six lines off
    long = REPEATED.replace("  open: yes,\n", "  open: yes,\n" + "".join(f"  line: {n},\n" for n in range(12)))
    right = long.splitlines(keepends=True)
    right[39] = "  kind: market,\n"
    assert applied(long, BODY, header="@@ -39,3 +39,3 @@") == "".join(right)
    assert applied(long, BODY, header="@@ -40,3 +40,3 @@") == "ambiguous"
    assert applied(long, BODY, header="@@ -39,9 +39,9 @@") == "ambiguous"
    # a hunk whose place is sure shows by how much the numbers are off
    sure = "@@ -20,1 +20,1 @@\n-  name: b,\n+  name: B,\n"
    right[19] = "  name: B,\n"
    moved = apply_fuzzily("# new\n" + long, parse_diff(f"{sure}@@ -39,9 +39,9 @@\n{BODY}")[0].hunks)
    assert moved == "# new\n" + "".join(right)
    # two of them that disagree show nothing
    torn = f"{sure}@@ -85,1 +85,1 @@\n-  name: e,\n+  name: E,\n@@ -39,3 +39,3 @@\n{BODY}"
    new = apply_fuzzily("# new\n" + long, parse_diff(torn)[0].hunks)
    assert isinstance(new, Unclear)
    assert new.reason == "ambiguous"


def test_of_several_places_the_one_in_the_named_function_is_taken() -> None:
    body = "     def total(self):\n+        self.check()\n"
    before, found, after = CODE.rpartition("        return sum")
    assert (
        applied(CODE, body, header="@@ -1,9 +1,9 @@ class Market:") == f"{before}        self.check()\n{found}{after}"
    )


def test_a_function_that_begins_with_the_lost_context_is_thought_of() -> None:
    filler = "".join(f"    more({number})\n" for number in range(5))
    file = f"def a():\n    one()\n    shared()\n{filler}\n\ndef b():\n    shared()\n"
    body = "     shared()\n+    new()\n"
    assert applied(file, body, header="@@ -9,9 +9,9 @@ def a():") == "ambiguous"


def test_places_that_come_to_the_same_are_no_ambiguity() -> None:
    assert applied("a\nb\nb\nc\n", "-b\n") == "a\nb\nc\n"
    assert applied("x\ny\nx\ny\n", " x\n-y\n+z\n", " x\n-y\n+z\n") == "x\nz\nx\nz\n"


def test_hunks_may_come_in_any_order_but_not_meet() -> None:
    first, last = "-import os\n+import sys\n", "     def open(self, shop):\n+        assert shop\n"
    right = CODE.replace("import os", "import sys").replace("shop):\n", "shop):\n        assert shop\n")
    assert applied(CODE, last, first) == applied(CODE, first, last) == right
    assert applied(CODE, first, "-import os\n+import re\n") == "overlap"
    assert applied(CODE, "-import os\n", " import os\n+import re\n") == "overlap"


def test_a_hunk_that_lost_its_changes_is_not_passed_over() -> None:
    assert applied(CODE, CHANGE, " import os\n") == "no_change"
    right_but_idle = parse_diff(f"@@ ... @@\n{CHANGE}@@ -1,1 +1,1 @@\n import os\n")[0].hunks
    assert apply_fuzzily(CODE, right_but_idle) == NEGATIVE


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_a_files_line_ends_and_its_last_newline_stay(ends: str, last: bool) -> None:
    old = ends.join(["one", "two", "three"]) + (ends if last else "")
    marker = "\\ No newline at end of file\n"
    for body in (" one\n-two\n+2\n three\n", f" one\n-two\n+2\n three\n{marker}"):
        assert applied(old, body) == old.replace("two", "2")
    # in the midst of a file the note means nothing
    assert applied(old, f" one\n-two\n+2\n{marker}") == old.replace("two", "2")
    assert applied(old, f"-three\n{marker}+3\n") == old.replace("three", "3").removesuffix(ends) + ends
    assert applied(old, f"-three\n+3\n{marker}") == old.replace("three", "3").removesuffix(ends)


def test_mixed_line_ends_are_left_alone() -> None:
    assert applied("one\r\ntwo\n", "-two\n+2\n") == "mixed_line_ends"


def test_a_strict_applier_is_asked_only_where_it_has_nothing_to_search_for() -> None:
    twice = "a\nb\nc\n" * 2
    assert matches_header_positions(twice, hunks(" a\n-b\n+B\n c\n", header="@@ -4,3 +4,3 @@"))
    assert not matches_header_positions(twice, hunks(" a\n-b\n+B\n c\n", header="@@ -3,3 +3,3 @@"))
    # git would look for these at the end of the file alone, and join the last lines
    assert not matches_header_positions("a\nb\nc\na\nb\n", hunks(" a\n-b\n", header="@@ -1,2 +1,1 @@"))
    assert not matches_header_positions(
        twice, hunks(" a\n-b\n+B\n c\n\\ No newline at end of file\n", header="@@ -4,3 +4,3 @@")
    )


@pytest.mark.parametrize(
    "text",
    ["a\n" * 50_000 + "b\n" * 2000, "\n" * 60_000, "a\nb\n" * 20_000, " " * 900_000 + "a\n", "x = 1\n" * 3000],
    ids=["runs", "blank", "pairs", "a long line", "alike"],
)
@pytest.mark.parametrize(
    "body",
    [" a\n" * 2000 + "-b\n", " a\n...\n" * 300 + "-b\n", " a\n \n" * 60 + "-b\n+c\n", "-\n", " x = 1\n" * 40 + "-y\n"],
    ids=["long", "dots", "blanks", "one", "alike"],
)
def test_hostile_input_is_given_up_in_little_time(text: str, body: str) -> None:
    began = time.process_time()
    apply_fuzzily(text, hunks(*[body] * 15))
    assert time.process_time() - began < CPU_S


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("one line\nanother line\n" * 300 + "the last line\n", " one line\n another line\n wrong line\n" * 10),
        ("one line\n" * 600 + "the last line\n", " one line\n wrong line\n" * 12 + " one line\n" * 5),
        ("one line\n" * 900 + "the last line\n", " one line\n...\n" * 10),
    ],
    ids=["two lines", "one line", "dots"],
)
def test_hunks_that_fit_almost_everywhere_are_given_up_in_little_time(text: str, body: str) -> None:
    began = time.process_time()
    new = apply_fuzzily(text, hunks(*[f"{body}-the last line\n"] * 30))
    assert time.process_time() - began < CPU_S
    assert isinstance(new, Unclear)


LINES = st.sampled_from(["a", "b", "", "    a", "\tb", "}", "def f():", "    return x", "...", "# ... rest", "-- x"])
texts = st.lists(LINES, max_size=14).map(lambda lines: "".join(line + "\n" for line in lines))
raw_hunks = st.lists(
    st.lists(st.tuples(st.sampled_from(" -+"), LINES).map("".join), min_size=1, max_size=7).map(
        lambda lines: "".join(line + "\n" for line in lines)
    ),
    min_size=1,
    max_size=3,
)


def squeezed(lines: list[str]) -> Counter[str]:
    return Counter("".join(line.split()) for line in lines)


@settings(max_examples=400, deadline=None)
@given(text=texts, bodies=raw_hunks, header=st.sampled_from(["@@ ... @@", "@@ -1,3 +1,3 @@", "@@ -4 +4 @@ def f():"]))
def test_no_line_is_ever_dropped_added_or_repeated(text: str, bodies: list[str], header: str) -> None:
    sought = parse_diff("".join(f"{header}\n{body}" for body in bodies))[0].hunks
    new = apply_fuzzily(text, sought)
    if isinstance(new, Unclear):
        return
    lines = [line for hunk in sought for line in hunk.lines]
    removed = squeezed([line[1:] for line in lines if line[:1] == "-"])
    added = squeezed([line[1:] for line in lines if line[:1] == "+"])
    assert squeezed(new.splitlines()) == squeezed(text.splitlines()) - removed + added
    assert removed <= squeezed(text.splitlines())


def diff(before: list[str], after: list[str], context: int) -> str:
    return "\n".join(difflib.unified_diff(before, after, "a/f", "b/f", lineterm="", n=context)) + "\n"


@settings(max_examples=200, deadline=None)
@given(before=st.lists(LINES, max_size=25), after=st.lists(LINES, max_size=25), context=st.integers(1, 3))
def test_a_right_diff_of_repeating_lines_is_applied_rightly_or_not_at_all(
    before: list[str], after: list[str], context: int
) -> None:
    parts = parse_diff(diff(before, after, context))
    new = (
        apply_fuzzily("".join(line + "\n" for line in before), parts[0].hunks)
        if parts
        else Unclear("no_change", make_reason("patch.no_change"))
    )
    assert isinstance(new, Unclear) or new == "".join(line + "\n" for line in after)


@settings(max_examples=200, deadline=None)
@given(data=st.data(), size=st.integers(1, 40))
def test_where_every_line_stands_once_the_numbers_do_not_matter(data: st.DataObject, size: int) -> None:
    before = [f"line {number} of {size}" for number in range(size)]
    kept = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    new = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    after = [text for at in range(size) for text in [before[at]] * kept[at] + [f"new {at}.{n}" for n in range(new[at])]]
    right = [hunk for part in parse_diff(diff(before, after, 2)) for hunk in part.hunks]
    sought = data.draw(st.permutations([Hunk("@@ -7,7 +7,7 @@", hunk.lines, counted=False) for hunk in right]))
    if sought:
        assert apply_fuzzily("\n".join(before) + "\n", sought) == "".join(line + "\n" for line in after)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 100_000))
def test_every_mutation_of_the_benchmark_ends_right_or_refused(seed: int) -> None:
    rng = random.Random(seed)
    changed = CODE.splitlines(keepends=True)
    for at in sorted(rng.sample([at for at, line in enumerate(changed) if line.strip()], 3), reverse=True):
        indent = changed[at][: len(changed[at]) - len(changed[at].lstrip(" "))]
        changed[at : at + rng.randint(0, 1)] = [f"{indent}new_line({at})\n"] * rng.randint(0, 2)
    found = releases._renumbered(releases._hunks(CODE, "".join(changed)))
    for kind, mutate in mutants.KINDS.items():
        made = mutate(mutants.Mutant(CODE, releases.spliced(CODE, found), found, ()), rng) if found else None
        if made is None or not mutants.determinable(made):
            continue
        parts = parse_diff(made.patch)
        new = apply_fuzzily(made.before, parts[0].hunks)
        assert isinstance(new, Unclear) or new == made.after, kind
        if kind == "a right diff":
            assert matches_header_positions(made.before, parts[0].hunks)


FUNCTIONS = """\
def add(a, b):
    total = a - b
    return total


def sub(a, b):
    return a - b
"""


@pytest.mark.parametrize(
    ("diff", "gone", "came"),
    [
        (
            "@@ -1,2 +1,2 @@\n def plus(a, b):\n-    total = a - b\n+    total = a + b\n",
            "total = a - b",
            "total = a + b",
        ),
        ("@@ @@\n def minus(a, b):\n-    return a - b\n+    return b - a\n", "return a - b", "return b - a"),
        ("@@ -6,2 +6,2 @@\n # subtracts\n-    return a - b\n+    return b - a\n", "return a - b", "return b - a"),
        (
            "@@ -2,2 +2,2 @@\n-    total = a - b\n+    total = a + b\n     return result\n",
            "total = a - b",
            "total = a + b",
        ),
    ],
)
def test_one_wrong_line_of_context_beside_a_removed_one_is_passed_over(diff: str, gone: str, came: str) -> None:
    """REQ-RUN-003."""
    (file,) = parse_diff(f"--- a/x.py\n+++ b/x.py\n{diff}")
    assert apply_fuzzily(FUNCTIONS, file.hunks) == FUNCTIONS.replace(gone, came)


@pytest.mark.parametrize(
    ("text", "diff"),
    [
        # the removed line stands twice
        (
            FUNCTIONS + "\n\ndef less(a, b):\n    return a - b\n",
            "@@ @@\n def minus(a, b):\n-    return a - b\n+    0\n",
        ),
        # the line of context is quite another one, and no number says that it belongs here
        (FUNCTIONS, "@@ @@\n class Matrix(Sequence[float]):\n-    return a - b\n+    return b - a\n"),
        # the removed line is another one
        (FUNCTIONS, "@@ -6,2 +6,2 @@\n def minus(a, b):\n-    return a - c\n+    return b - a\n"),
        # two lines of context are wrong
        (FUNCTIONS, "@@ -6,3 +6,3 @@\n def minus(a, b):\n-    return a - b\n+    return b - a\n # the end\n"),
        # what is removed says nothing of a place
        ("f(\n)\n", "@@ -1,2 +1 @@\n g(\n-)\n"),
    ],
)
def test_what_may_belong_elsewhere_is_still_refused(text: str, diff: str) -> None:
    (file,) = parse_diff(f"--- a/x.py\n+++ b/x.py\n{diff}")
    assert isinstance(apply_fuzzily(text, file.hunks), Unclear)
