"""Every refusal that a person reads exists in Korean: held against what the code really says."""

from __future__ import annotations

import re

import pytest

from bot.agent.apply_comment import parse_comment_patch
from bot.errors import MendbotError, UserError
from bot.github.answers import raise_for_status
from bot.http import HttpResponse
from bot.model import Change
from bot.model.reasons import Reason
from bot.reports.locale.reasons import reason_text
from bot.rules.patches.change_policy import check_patch_text, check_path, check_proposed
from bot.rules.reasons import make_reason
from bot.rules.tampering.weakened_tests import FileTexts, weakened
from bot.rules.tampering.weakened_tests import weakened_refusal as refusal_of

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
WEAKER = (
    FileTexts("tests/test_a.py", "def test_one():\n    assert 1\n", None),
    FileTexts(
        "tests/test_b.py",
        "def test_one():\n    assert 1\n\ndef test_two():\n    assert 2\n",
        "def test_one():\n    assert 1\n",
    ),
    FileTexts(
        "tests/test_c.py",
        "def test_one():\n    assert a\n    assert b\n    assert c\n",
        "def test_one():\n    assert a\n",
    ),
    FileTexts(
        "tests/test_d.py",
        "import pytest\ndef test_one():\n    assert a\n",
        "import pytest\n@pytest.mark.skip\ndef test_one():\n    assert a\n",
    ),
    FileTexts("setup.cfg", "[mypy]\nstrict = true\n", "[mypy]\nstrict = false\n"),
    FileTexts("a.py", "x = 1\n", "x = 1  # type: ignore\n"),
)
GIVEN = ("hello", "\ud800", "diff --git a/a.py b/b.py\nrename from a.py\nrename to b.py\n")


def assert_korean(reason: Reason | None) -> None:
    assert reason is not None
    text = reason_text(reason, "ko")
    assert re.search("[가-힣]", text) and "refused" not in text, text
    assert not re.search("[가-힣]", reason_text(reason, "en"))


@pytest.mark.parametrize("file", WEAKER, ids=lambda file: file.path)
def test_why_a_change_makes_tests_or_checks_weaker(file: FileTexts) -> None:
    found = weakened([file])
    assert found
    for one in found:
        assert_korean(one.because)


def test_several_reasons_are_one_with_the_name_of_their_agent() -> None:
    found = refusal_of([one for file in WEAKER[:3] for one in weakened([file])])
    assert found is not None
    text = reason_text(make_reason("agent", agent="command", why=found), "ko")
    assert text.startswith("`command`: tests/test_a.py: 테스트 1개(test_one)가 있는 파일이")
    assert text.count("유지해 주세요") == 3 and "keep" not in text


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_may_not_be_changed(path: str) -> None:
    refusal = check_path(path)
    assert refusal is not None
    assert_korean(refusal.because)


@pytest.mark.parametrize("patch", PATCHES, ids=range(len(PATCHES)))
def test_a_diff_that_may_not_be_applied(patch: str) -> None:
    refusal = check_patch_text(patch, NAME)
    assert refusal is not None
    assert_korean(refusal.because)


def test_too_much_at_once() -> None:
    many = tuple(Change(path=f"f{number}.py", content="x") for number in range(1000))
    large = (Change(path=NAME, content="x" * 3_000_000),)
    for refusal in (check_proposed(many), check_proposed(large)):
        assert refusal is not None
        assert_korean(refusal.because)


@pytest.mark.parametrize("text", GIVEN)
def test_a_given_text_that_is_no_diff(text: str) -> None:
    with pytest.raises(UserError) as raised:
        parse_comment_patch(text)
    assert_korean(raised.value.because)


@pytest.mark.parametrize("status", [403, 404, 422])
def test_an_answer_of_githubs(status: int) -> None:
    with pytest.raises(MendbotError) as raised:
        raise_for_status("POST", "/repos/octo/tiny/pulls", HttpResponse(status, {}, b'{"message": "No"}'))
    assert_korean(raised.value.because)
