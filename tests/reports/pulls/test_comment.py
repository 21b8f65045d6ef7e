"""The comments on a pull request: the one that asks for approval, and that of a *Fix* (T36)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from bot.model import Language, Status
from bot.model.reasons import ExplainedStop
from bot.reports.pulls.comment import fix_comment, pull_comment
from bot.reports.pulls.unchecked_heads import AWAITING, NO_SANDBOX
from bot.rules.reasons import make_reason, quoted
from tests.reports.golden import LANGUAGES, compare
from tests.reports.hostile_texts import EVIL, assert_harmless, evil_view
from tests.reports.locale.harmless_links import assert_harmless as assert_only_our_links
from tests.reports.views_pulls import CHECKS, COMMENTS, FIXES, HEAD, PATCH, VIEW, fix_run, pull_view

WAITING = VIEW.model_copy(update={"stop": ExplainedStop.of(AWAITING, make_reason("pull.waits")), "status": "queued"})
PLAIN = PATCH.replace("```", "").replace("</details>", "")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", COMMENTS)
def test_comment(name: str, language: Language) -> None:
    told = pull_comment(WAITING.model_copy(update={"from_fork": name == "awaiting-fork"}), language)
    compare(f"pull-comment-{name}.{language}.md", f"{told}\n")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", FIXES)
def test_fix(name: str, language: Language) -> None:
    run, given = fix_run(name, language)
    compare(f"pull-fix-{name}.{language}.md", fix_comment(run, language=language, **given) + "\n")


@pytest.mark.parametrize("name", CHECKS)
def test_what_the_checks_tab_says_is_not_said_again(name: str) -> None:
    assert pull_comment(pull_view(name)[0]) is None


def test_no_approval_is_asked_for_that_would_not_help() -> None:
    unboxed = ExplainedStop.of(AWAITING, make_reason(NO_SANDBOX))
    assert pull_comment(WAITING.model_copy(update={"stop": unboxed})) is None


def test_an_approval_is_one_line_to_copy() -> None:
    told = pull_comment(WAITING)
    assert told is not None
    assert [token.content for token in MarkdownIt().parse(told) if token.type == "fence"] == [
        f"/mendbot ok-to-test {HEAD[:12]}\n"
    ]


def diff_of(told: str) -> str:
    return next(token.content for token in MarkdownIt().parse(told) if token.type == "fence" and token.info == "diff")


def fixed(patch: str, language: Language = "en", **changes: object) -> str:
    run, given = fix_run("fork")
    return fix_comment(run.model_copy(update=changes), language=language, **{**given, "patch": patch})


def git(tree: Path, *argv: str, told: str = "") -> None:
    subprocess.run(["git", *argv], cwd=tree, input=told.encode(), check=True, capture_output=True)


@pytest.mark.parametrize("patch", [PATCH, PLAIN], ids=["with a fence inside", "plain"])
def test_the_diff_of_a_fork_applies_as_it_is_shown(tmp_path: Path, patch: str) -> None:
    before = [line[1:] for line in patch.splitlines()[4:] if line[0] in " -"]
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "cart.py").write_text("\n".join(before) + "\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "apply", "--index", "-", told=diff_of(fixed(patch)))
    assert "return sum(items)" in (tmp_path / "shop" / "cart.py").read_text()


def test_of_a_long_fix_whole_files_are_shown_and_the_cut_is_told() -> None:
    files = [PATCH.replace("cart.py", f"cart{at}.py") for at in range(400)]
    told = fixed("".join(files))
    shown = diff_of(told).count("diff --git")
    assert 0 < shown < 400 and diff_of(told) == "".join(files[:shown])
    assert f"Cut: {shown} of 400 files" in told and len(told) <= 65_000


def test_one_file_that_is_too_long_is_cut_at_a_line_and_said_not_to_apply() -> None:
    told = fixed(PATCH + "+😀 line\n" * 16_384)
    assert diff_of(told).endswith("+😀 line\n") and "does not apply like this" in told and len(told) <= 65_000
    assert "does not apply" in fixed("x" * 99_999)


def test_a_diff_that_cannot_be_shown_as_it_is_says_so() -> None:
    assert "the diff may not apply" in fixed(PATCH.replace("\n", "\r\n"))
    assert "the diff may not apply" not in fixed(PATCH)


def test_a_fix_is_not_called_pushed_where_it_was_not() -> None:
    sha = "c" * 40
    assert "Pushed" not in fixed(PATCH, commit_sha=sha), "a fork's branch is not pushed to"
    assert "Pushed" not in fix_comment(fix_run("pushed")[0].model_copy(update={"commit_sha": "`x`"}), number=1)
    pushed = fix_comment(fix_run("pushed")[0], number=41, patch=PATCH)
    assert f"Pushed {sha[:12]} to this branch." in pushed and "```diff" not in pushed


def test_a_fix_that_failed_or_was_cancelled_says_how_to_go_on_without_an_issue() -> None:
    for name in FIXES:
        if name.startswith(("failed", "cancelled")):
            run, given = fix_run(name)
            told = fix_comment(run, **given)
            assert "comment `/mendbot retry`" in told, name
            assert "the issue" not in told and "label `auto-fix` and" not in told, name


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("bulk", [1, 300])
@pytest.mark.parametrize("status", Status)
def test_no_stranger_speaks_in_a_comment_of_any_size(status: Status, bulk: int, language: Language) -> None:
    run = evil_view(status, bulk).model_copy(update={"commit_sha": EVIL})
    for patch in ("", EVIL * bulk, "😀" * 16_384, "`" * 20_000):
        for fork in (True, False):
            told = fix_comment(run, number=41, from_fork=fork, patch=patch, language=language)
            assert len(told) <= 65_000 and told.endswith("</sub>")
            assert_harmless(told)
    waiting = WAITING.model_copy(
        update={"author": EVIL * bulk, "sandbox": quoted("😀" * 16_384 + EVIL), "run_id": EVIL}
    )
    asked = pull_comment(waiting, language)
    assert asked is not None and len(asked) <= 65_000
    assert_only_our_links(asked)
