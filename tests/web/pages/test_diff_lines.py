"""Unified diffs as lines with numbers."""

from __future__ import annotations

from bot.web.pages.diff_lines import FOLDED_FROM, MAX_LINES, read_diff

DIFF = """diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -3,3 +3,3 @@ def f():
 same
-old
+new
--- a line that was removed
\\ No newline at end of file
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x\x1b[31m
"""


def test_files_and_lines_are_read_with_their_numbers() -> None:
    first, second = read_diff(DIFF).files
    assert (first.path, first.added, first.removed) == ("a.py", 1, 2)
    assert [(line.kind, line.old, line.new) for line in first.lines] == [
        ("hunk", None, None), ("same", 3, 3), ("del", 4, None), ("add", None, 4), ("del", 5, None),
    ]  # fmt: skip
    assert first.lines[-1].text == "-- a line that was removed"
    assert (second.path, second.lines[-1].text) == ("gone.py", "x")


def test_long_files_are_folded_and_long_diffs_cut() -> None:
    head = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -0,0 +1,9 @@\n"
    assert read_diff(head + "+x\n" * FOLDED_FROM).files[0].folded
    assert not read_diff(head + "+x\n").files[0].folded
    assert read_diff(head + "+x\n" * MAX_LINES).cut
    assert read_diff("no diff").files == ()
