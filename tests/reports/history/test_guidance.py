"""What the history says to people, and that the hook says the same."""

from __future__ import annotations

import json

import pytest

from bot.agent import hook
from bot.model import KnownError, Language, Resolution
from bot.reports.history.guidance import as_json, error_guidance, file_guidance, imported, listing, recorded
from bot.reports.locale.catalog import t
from bot.rules.reasons import quoted

KNOWN = KnownError(
    id=7,
    error="<PATH>/index.ts(<POS>): error TS2345: no",
    resolution=Resolution(
        resolved_by="ada",
        tool="Edit",
        tool_sequence=("Read", "Edit"),
        how="gave it a type",
        repo="octo/pocket",
        commit="0123456789abcdef",
        pull_request=12,
    ),
    use_count=3,
    last_used="2026-11-21T10:00:00.000+00:00",
    shown=4,
    passed=3,
)


def test_a_file_and_an_error_in_the_seeds_words() -> None:
    assert file_guidance(KNOWN, "ko") == (
        "⚠️ 이 파일 관련 과거 에러: <PATH>/index.ts(<POS>): error TS2345: no\n"
        "해결 방법: ada (Edit): gave it a type\n"
        "해결 경로: Read → Edit"
    )
    assert error_guidance(KNOWN, "ko").splitlines()[2] == "이전 해결 경로: Read → Edit"


def test_a_listing_has_the_facts_and_links_by_name() -> None:
    assert listing([KNOWN], "en", of_file=False) == (
        "💡 The same error was resolved before: index.ts: error TS2345: no\n"
        "How it was resolved: ada (Edit): gave it a type\n"
        "Path to the earlier resolution: Read → Edit\n"
        "Used 3×, last on 2026-11-21 · shown before attempts: 4, of which passed: 3 · octo/pocket#12 · "
        "octo/pocket@0123456789ab"
    )
    assert listing([], "en", of_file=True) == "Nothing is known about it yet."
    similar = KNOWN.model_copy(update={"exact": False})
    assert listing([similar], "en", of_file=False).startswith("💡 A similar error")
    template = similar.model_copy(update={"by_template": True})
    assert "perhaps with another cause" in listing([template], "en", of_file=False).splitlines()[0]
    assert "원인은 다를 수 있음" in listing([template], "ko", of_file=False).splitlines()[0]


def test_json_is_camel_case_and_what_others_wrote_stays_on_its_line() -> None:
    (row,) = as_json([KNOWN])
    assert (row["useCount"], row["resolution"]["resolvedBy"], json.dumps(row)[0]) == (3, "ada", "{")
    hostile = KNOWN.model_copy(update={"resolution": Resolution(how="a\nb\x1b[2Jc")})
    assert "a bc" in file_guidance(hostile, "en")


def test_an_import_tells_of_each_line_it_refused() -> None:
    assert imported(2, (), "en") == "2 records taken."
    assert imported(0, (quoted("line 3: not JSON"),), "en").splitlines()[2] == "  line 3: not JSON"
    assert imported(0, (quoted("line 3: not JSON"),), "en", more=4).splitlines()[1:] == [
        "5 lines refused:",
        "  line 3: not JSON",
        "  … and 4 more",
    ]
    assert "7" in recorded(7, "ko")


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_hook_has_the_same_lines(language: Language) -> None:
    """REQ-RA-312."""
    theirs = hook.SENTENCES[language]
    for key, field in (("file", "error"), ("how", "how"), ("path", "steps"), ("earlier", "steps")):
        assert theirs[key] == t(language, f"history.{key}", **{field: ""})


def test_the_hook_has_both_languages() -> None:
    assert hook.SENTENCES["en"].keys() == hook.SENTENCES["ko"].keys()
