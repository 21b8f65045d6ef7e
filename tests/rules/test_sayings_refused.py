"""Every refusal that a person reads exists in Korean: held against what the code really says."""

from __future__ import annotations

import re

import pytest

from bot.agent.given import read_given
from bot.errors import MendbotError, UserError
from bot.github.answers import judge
from bot.http import Answer
from bot.model import Change
from bot.reports.reasons import in_words
from bot.rules.patches import check_patch_text, check_path, check_proposed
from bot.rules.sayings import read

NAME = "src/app.py"
PATHS = ("a\nb", "/etc/passwd", "../x", ".git/config", "a//b", ".gitmodules", ".github/workflows/x.yml", "CODEOWNERS")
PATCHES = (
    "x" * 3_000_000,
    "\0",
    f"--- a/{NAME}\n+++ b/other.py\n@@ -1 +1 @@\n-a\n+b\n",
    f"diff --git a/{NAME} b/{NAME}\nnew file mode 120000\n--- /dev/null\n+++ b/{NAME}\n@@ -0,0 +1 @@\n+x\n",
    f"diff --git a/{NAME} b/{NAME}\nnew file mode 160000\n--- /dev/null\n+++ b/{NAME}\n@@ -0,0 +1 @@\n+x\n",
    f"diff --git a/{NAME} b/{NAME}\nnew file mode 104755\n--- /dev/null\n+++ b/{NAME}\n@@ -0,0 +1 @@\n+x\n",
    f"diff --git a/{NAME} b/{NAME}\nGIT binary patch\nliteral 1\nIcmZ\n",
)
GIVEN = ("hello", "\ud800", "diff --git a/a.py b/b.py\nrename from a.py\nrename to b.py\n")


def assert_korean(text: str) -> None:
    found = read(text)
    assert found is not None, text
    said = in_words(found, "ko")
    assert re.search("[가-힣]", said) and "refused" not in said, said
    assert in_words(found, "en") == text


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_may_not_be_changed(path: str) -> None:
    refusal = check_path(path)
    assert refusal is not None
    assert_korean(refusal.message)


@pytest.mark.parametrize("patch", PATCHES, ids=range(len(PATCHES)))
def test_a_diff_that_may_not_be_applied(patch: str) -> None:
    refusal = check_patch_text(patch, NAME)
    assert refusal is not None
    assert_korean(refusal.message)


def test_too_much_at_once() -> None:
    many = tuple(Change(path=f"f{number}.py", content="x") for number in range(1000))
    large = (Change(path=NAME, content="x" * 3_000_000),)
    for refusal in (check_proposed(many), check_proposed(large)):
        assert refusal is not None
        assert_korean(refusal.message)


@pytest.mark.parametrize("text", GIVEN)
def test_a_given_text_that_is_no_diff(text: str) -> None:
    with pytest.raises(UserError) as raised:
        read_given(text)
    assert_korean(str(raised.value))


@pytest.mark.parametrize("status", [403, 404, 422])
def test_an_answer_of_githubs(status: int) -> None:
    with pytest.raises(MendbotError) as raised:
        judge("POST", "/repos/octo/tiny/pulls", Answer(status, {}, b'{"message": "No"}'))
    assert_korean(str(raised.value))
