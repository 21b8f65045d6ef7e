"""The picture of a group is made from its reasons alone, the same each time."""

from __future__ import annotations

import re
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from bot.model import Issue
from bot.model.reasons import Reason, make_reason
from bot.rules.grouping.groups import choose_groups
from bot.web.pages.group_picture import KEY, LABELS_WIDTH, MAX_LABEL, draw

ISSUES = [Issue(number=number, title=f"title {number}") for number in (9, 7, 12)]
REFERS = make_reason("group.one_way", low=7, high=9)
WORDS = make_reason("group.words", low=7, high=12, cosine="0.61", words="cart, total")


def pairs(reasons: list[Reason]) -> list[tuple[int, int, int]]:
    return [(arc.edge.number, arc.edge.low, arc.edge.high) for arc in draw(ISSUES, reasons).arcs]


def test_each_reason_between_two_issues_is_an_arc() -> None:
    picture = draw(ISSUES, [REFERS, WORDS])
    assert [node.label for node in picture.nodes] == ["#7 title 7", "#9 title 9", "#12 title 12"]
    assert pairs([REFERS, WORDS]) == [(1, 7, 9), (2, 7, 12)]
    assert [arc.is_weak for arc in picture.arcs] == [False, True]
    assert picture.key is None and picture.notes == ()
    ends = [re.findall(r"-?[\d.]+", arc.path) for arc in picture.arcs]
    rows = {node.label.split()[0]: node.y for node in picture.nodes}
    assert [(int(end[1]), int(end[-1])) for end in ends] == [(rows["#7"], rows["#9"]), (rows["#7"], rows["#12"])]


def test_a_shared_key_is_a_row_that_each_issue_leads_to() -> None:
    shared = make_reason("group.shared.file", count=3, number=7, key="src/cart.py")
    place = make_reason("group.from.line", number=9)
    part = make_reason("group.part", part=1, total=2, size=3)
    picture = draw(ISSUES, [shared, place, part])
    assert picture.nodes[0].is_key and picture.nodes[0].label == "src/cart.py"
    assert [(arc.edge.low, arc.edge.high, arc.edge.reason) for arc in picture.arcs] == [
        (KEY, 7, shared), (KEY, 9, place), (KEY, 12, shared)
    ]  # fmt: skip
    assert (picture.key, picture.notes) == (shared, (part,))
    assert draw(ISSUES, [make_reason("group.together")]).nodes[0].label == ""


def test_what_names_no_two_of_the_issues_is_a_note() -> None:
    other, single = make_reason("group.error", low=7, high=99, what="boom"), make_reason("group.unlike", number=7)
    assert draw(ISSUES, [other, single]).notes == (other, single) and pairs([other, single]) == []


def test_two_reasons_of_a_pair_have_arcs_of_their_own() -> None:
    first, second = draw(ISSUES, [REFERS, make_reason("group.error", low=7, high=9, what="boom")]).arcs
    assert first.path != second.path and first.x != second.x and min(first.x, second.x) > 9


def test_a_long_title_is_cut_and_korean_counts_twice() -> None:
    titles = ("x" * 100, "가" * 100)
    picture = draw([Issue(number=index, title=title) for index, title in enumerate(titles, 1)], [])
    latin, korean = (node.label for node in picture.nodes)
    assert len(latin) <= MAX_LABEL and latin.endswith("…") and len(korean) < MAX_LABEL * 0.6


@given(st.integers(2, 50), st.randoms(use_true_random=False))
def test_every_number_lies_in_the_picture_whatever_the_group(count: int, random: Random) -> None:
    issues = [Issue(number=number, title="t") for number in range(1, count + 1)]
    reasons = [
        make_reason("group.file", low=low, high=high, what="a/b.py")
        for low, high in {tuple(sorted(random.sample(range(1, count + 1), 2))) for _ in range(count)}
    ]
    picture = draw(issues, reasons)
    assert all(9 < arc.x < picture.x and 9 < arc.y < picture.height - 9 for arc in picture.arcs)
    assert picture.width == picture.x + LABELS_WIDTH
    shuffled = random.sample(issues, count)
    assert draw(shuffled, reasons) == picture


def test_the_reasons_that_grouping_gives_are_all_drawn() -> None:
    issues = [
        Issue(number=1, title="Totals are wrong", body="See #2."),
        Issue(number=2, title="Rounding of totals", body="`src/cart.py` line 3"),
        Issue(number=3, title="Cart shows no tax", body="`src/cart.py` is wrong"),
    ]
    for group in choose_groups(issues, "similarity"):
        members = [issue for issue in issues if issue.number in group.issues]
        picture = draw(members, group.reasons)
        assert len(picture.arcs) + len(picture.notes) == len(group.reasons)
        assert len(members) == 1 or len(picture.arcs) == len(members) - 1
