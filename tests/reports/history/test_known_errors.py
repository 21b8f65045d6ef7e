"""What the history knows is told in the comment and at the line, and nothing that it holds gets out of its words."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.model import ErrorDelta, KnownError, Resolution, RunView
from bot.reports.format.truncate import one_line
from bot.reports.history.guidance import resolution_links
from bot.reports.history.known_errors import annotation_line, known_errors
from bot.reports.runs.check_output import check_output
from bot.reports.runs.issue_comment import issue_comment
from bot.reports.runs.pull_request import pull_body
from bot.reports.runs.validation import error_delta
from bot.rules.reasons import make_reason
from tests.reports.hostile_texts import prose_of
from tests.reports.views_runs import BY_BOT, BY_PERSON, ONE, SIMILAR, make_view

WILD = st.text(alphabet="@#:/w.GH-1aZ`*_[]()<>!|~$&\\\\ \n=+>-😀", max_size=60) | st.sampled_from(
    [
        "@everyone",
        "fixes #1",
        "GH-7",
        "<!-- mendbot:issue -->",
        "</details>",
        "```",
        "~~~",
        "</summary>",
        "a" * 9_000,
        "@b" * 9_000,
    ]
)
RESOLUTIONS = st.builds(
    Resolution,
    resolved_by=WILD,
    tool=WILD,
    tool_sequence=st.lists(WILD, max_size=4).map(tuple),
    how=WILD,
    repo=st.sampled_from(["acme/shop", "ACME/Shop", "other/place", None]),
    commit=WILD | st.sampled_from(["0" * 40, "abc", None]),
    pull_request=st.none() | st.integers(),
)
KNOWN = st.builds(KnownError, id=st.integers(1, 9), error=WILD, resolution=RESOLUTIONS, exact=st.booleans())


@pytest.fixture
def failed(view: Callable[[str], RunView]) -> RunView:
    return view("failed-known")


def test_the_comment_tells_how_it_was_resolved_and_where_but_never_the_patch(failed: RunView) -> None:
    """REQ-RA-312: the comment."""
    told = known_errors(failed, "en")
    assert "The same error was resolved before: assert None == 0" in told
    assert "Fixed in: 0123456 (#31)" in told
    assert "+++" not in issue_comment(failed)


def test_the_line_of_a_known_finding_says_how_it_was_resolved(failed: RunView) -> None:
    """REQ-RA-312: the annotation."""
    known, unknown = check_output(failed, "test")[1].annotations
    assert known.message.startswith("assert None == 0\n")
    line = "💡 Seen 3 times since May 2026; last fixed in 0123456 (#\u200b31); how it was fixed: ann"
    assert known.message.splitlines()[-1].startswith(line)
    assert unknown.message == "line too long"
    korean = check_output(failed, "test", "ko")[1].annotations[0].message.splitlines()[-1]
    assert korean.startswith("💡 2026년 5월부터 이 에러로 3번 실패; 최근 해결: 0123456 (#\u200b31); 해결 방법: ann")


def test_the_line_counts_only_what_came_again_and_claims_nothing_of_a_similar_error() -> None:
    assert annotation_line(BY_BOT, "en", "acme/shop", seen=(1, "2026-05")).startswith("💡 Last fixed in #\u200b12;")
    assert annotation_line(BY_BOT, "en", "acme/shop", seen=(2, "?")).startswith("💡 Seen 2 times; last ")
    similar = BY_BOT.model_copy(update={"exact": False})
    told = annotation_line(similar, "en", "acme/shop", seen=(9, "2026-05"))
    assert told.startswith("💡 A similar error was last fixed in #\u200b12; how it was fixed: mendbot[bot]")


def test_a_finding_of_which_only_the_text_is_known_gets_no_line() -> None:
    assert annotation_line(KnownError(id=1, error="x", resolution=Resolution()), "en", "acme/shop") == ""


def test_only_places_of_the_same_repository_are_named() -> None:
    assert resolution_links(BY_PERSON, "acme/shop") == ("#31", "0123456789ab")
    assert resolution_links(BY_PERSON, "acme/other") == ()
    assert resolution_links(SIMILAR, "acme/shop") == ()
    wrong = BY_BOT.model_copy(update={"resolution": Resolution(repo="acme/shop", commit="@ann", pull_request=-1)})
    assert resolution_links(wrong, "acme/shop") == ()


def test_of_guidance_that_is_all_signs_as_much_is_told_as_there_is_room_for() -> None:
    loud = BY_PERSON.model_copy(update={"error": "@b" * 9_000, "resolution": Resolution(how="#1" * 9_000)})
    told = known_errors(ONE.model_copy(update={"guidance": (loud,) * 5}), "en")
    assert 1 <= told.count("\n- ") < 5 and len(told) <= 13_000


def test_what_is_fixed_by_now_is_not_told_and_a_files_past_error_is_told_as_such() -> None:
    told = known_errors(ONE.model_copy(update={"guidance": (BY_PERSON, BY_BOT)}), "en")
    assert "Past error involving this file: assert None == 0" in told
    gone = ErrorDelta(fixed=(BY_PERSON.error, BY_BOT.error))
    assert known_errors(ONE.model_copy(update={"guidance": (BY_PERSON, BY_BOT), "error_delta": gone}), "en") == ""


def test_the_change_of_errors_is_told_once_there_are_two_states_to_compare(failed: RunView) -> None:
    head = "**Errors after the last change:** 1 fixed · 1 remaining · 3 new"
    assert head in issue_comment(failed)
    first = failed.model_copy(update={"baseline": None, "validations": failed.validations[:1]})
    assert "Errors after" not in issue_comment(first)
    still = failed.model_copy(update={"error_delta": ErrorDelta()})
    assert "Errors after" not in issue_comment(still)


@settings(max_examples=60, deadline=None)
@given(st.lists(KNOWN, max_size=6).map(tuple), st.lists(WILD, max_size=3).map(tuple))
def test_no_guidance_calls_anybody_breaks_out_or_grows_too_large(
    guidance: tuple[KnownError, ...], texts: tuple[str, ...]
) -> None:
    """REQ-RA-312, T36: the history's texts come from logs and from people."""
    moved = ErrorDelta(fixed=texts, remaining=texts, introduced=texts)
    failed = make_view("failed-known")
    recognised = tuple((finding, known) for (finding, _), known in zip(failed.recognised, guidance, strict=False))
    notes = tuple(make_reason("fault", error=text) for text in texts)
    changes = {"guidance": guidance, "error_delta": moved, "recognised": recognised, "notes": notes}
    for name in ("failed-known", "running-known"):
        told = make_view(name).model_copy(update=changes)
        body = issue_comment(told)
        assert len(body) <= 65_000 and body.endswith("</sub>")
        part = known_errors(told, "en")
        assert len(part) <= 13_000
        assert part.count("<details>") == part.count("</details>") == bool(part)
        words = re.sub(r"(?m)^Fixed in: .*$", "", prose_of(f"{part}\n\n{error_delta(told, 'en', listed=2)}"))
        assert not re.search(r"@[A-Za-z0-9]|#\d|://|(?i:\bGH-\d)", words)
    body = pull_body(make_view("success-notes").model_copy(update=changes))
    assert not re.search(r"@[A-Za-z0-9]", prose_of(body))
    for note in check_output(failed.model_copy(update=changes), "test")[1].annotations:
        assert len(note.message) <= 4_600


@given(KNOWN)
def test_a_line_is_one_line_that_mentions_and_refers_to_nothing(known: KnownError) -> None:
    line = annotation_line(known, "en", "acme/shop", seen=(3, "2026-05"))
    assert len(line) <= 500 and line == one_line(line, 500)
    assert not re.search(r"@[A-Za-z0-9]|#\d|://", line)
