"""How large a change is said to be."""

from __future__ import annotations

from bot.model import ChangedFile
from bot.rules.patches.change_size import changed_files

DIFF = """diff --git a/src/b.py b/src/b.py
--- a/src/b.py
+++ b/src/b.py
@@ -1,3 +1,3 @@
 one
-two
---a line that looks like a header
+TWO
 three
@@ -9,1 +9,2 @@
 nine
+ten
diff --git a/a.txt b/a.txt
new file mode 100644
--- /dev/null
+++ b/a.txt
@@ -0,0 +1,2 @@
+x
+y
diff --git a/old name.md b/new name.md
similarity index 100%
rename from old name.md
rename to new name.md
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1,1 +0,0 @@
-x
diff --git a/logo.png b/logo.png
index 1..2
Binary files a/logo.png and b/logo.png differ
"""


def test_each_file_is_counted_by_its_lines() -> None:
    assert changed_files(DIFF) == (
        ChangedFile(path="a.txt", added=2, removed=0),
        ChangedFile(path="gone.py", added=0, removed=1),
        ChangedFile(path="logo.png", added=0, removed=0),
        ChangedFile(path="new name.md", added=0, removed=0),
        ChangedFile(path="src/b.py", added=2, removed=2),
    )
    assert changed_files("") == ()
