"""Groups (spec F): every issue in its place, sorted, bounded, on a branch of its own, and saying why."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import UserError
from bot.model import Group, Issue
from bot.reports.locale.reasons import english
from bot.rules.grouping import group_issues
from bot.rules.grouping.groups import choose_groups, pinned_group

BRANCH = re.compile(r"fix/[a-z0-9-]+")


def issue(number: int, title: str = "", body: str = "", labels: tuple[str, ...] = ()) -> Issue:
    return Issue(number=number, title=title, body=body, labels=labels)


def shape(groups: tuple[Group, ...]) -> list[tuple[str, tuple[int, ...]]]:
    return [(group.key, group.issues) for group in groups]


@pytest.mark.parametrize(
    ("component", "given_issue"),
    [
        ("auth", issue(1, labels=("bug", "component:Auth"))),
        ("auth", issue(1, labels=("Area: auth",), body="Component: other")),
        ("auth", issue(1, body="It broke.\n**Component:** `Auth`\nsrc/ui/a.ts")),
        ("auth", issue(1, body="### Component\r\n\r\nAuth\r\n\r\n### What\r\n\r\nx")),
        ("src/auth", issue(1, body="### Component\n\n_No response_\n\nSee src/Auth/login.ts:10.")),
        ("src/auth", issue(1, title="Crash in src/auth/login.ts", body="then lib/b.py")),
        ("src/auth", issue(1, body=r"at C:\src\auth\login.cs:12")),
        ("src", issue(1, body="[here](https://github.com/o/r/blob/main/src/a.py#L3) and https://example.com/x/y.html")),
        ("app", issue(1, body='File "/app/x.py", line 3, in <module>')),
        ("unknown", issue(1, body="Since v1.2.3, e.g. with Node.js and/or os.path.join, main.py fails. See x.y")),
        ("unknown", issue(1)),
    ],
)
def test_the_component_is_the_labels_else_the_bodys_else_the_first_files_directory(
    component: str, given_issue: Issue
) -> None:
    """REQ-WF-001."""
    assert shape(group_issues([given_issue], "component")) == [(component, (1,))]


def test_components_ignore_case_and_the_larger_group_comes_first() -> None:
    """REQ-WF-001, REQ-WF-005."""
    groups = group_issues(
        [issue(9, labels=("component:API",)), issue(1, labels=("component:ui",)), issue(2, labels=("area:api",))],
        "component",
    )
    assert shape(groups) == [("api", (2, 9)), ("ui", (1,))]
    assert groups[0].reasons[0] == "2 issues share the component api"
    assert groups[0].reasons[1:] == ("#2: label area:api", "#9: label component:API")


def test_the_first_file_decides() -> None:
    """REQ-WF-002."""
    groups = group_issues(
        [
            issue(3, body="src/a.ts and src/b.ts"),
            issue(1, body="./src/b.ts, then src/a.ts"),
            issue(2, "src/a.ts:4 fails"),
        ],
        "file",
    )
    assert shape(groups) == [("src/a.ts", (2, 3)), ("src/b.ts", (1,))]


def test_the_label_listing_names_an_issue_under_each_of_its_own_labels() -> None:
    """REQ-WF-003."""
    status = ("auto-fix", "AUTO-FIX-processing", "mend", "mend-failed")
    groups = group_issues(
        [issue(2, labels=("bug", "ui", *status)), issue(1, labels=("Bug",)), issue(3, labels=status)],
        "label",
        ignore_labels=("Mend",),
    )
    assert shape(groups) == [("Bug", (1, 2)), ("ui", (2,)), ("unknown", (3,))]


def test_a_run_has_each_issue_once_in_the_larger_then_the_lower_key() -> None:
    """REQ-WF-003."""
    issues = [
        issue(1, labels=("ui", "bug")),
        issue(2, labels=("bug",)),
        issue(3, labels=("ui",)),
        issue(4, labels=("b", "a")),
        issue(5, labels=("ui",)),
    ]
    assert shape(choose_groups(issues, "label")) == [("ui", (1, 3, 5)), ("bug", (2,)), ("a", (4,))]


def test_without_a_choice_components_come_first_then_files_then_likeness() -> None:
    """REQ-WF-007."""
    issues = [
        issue(1, "Upload fails", "src/up/a.ts"),
        issue(2, "Other upload trouble", "src/up/b.ts"),
        issue(3, "main.py hangs"),
        issue(4, "main.py is slow"),
        issue(5, "Password reset mail never arrives", "No password reset mail is sent to the account"),
        issue(6, "Reset password mail not sent", "The password reset mail never arrives for my account"),
        issue(7, "Dark mode is ugly"),
    ]
    groups = choose_groups(issues)
    assert shape(groups) == [("src/up", (1, 2)), ("main.py", (3, 4)), ("similar-5", (5, 6)), ("issue-7", (7,))]
    assert tuple(map(english, groups[3].reasons)) == ("#7 is like no other issue",)


def test_issues_without_the_chosen_key_are_grouped_by_likeness_and_not_thrown_together() -> None:
    issues = [issue(1, "a crash"), issue(2, "dark colours"), issue(3, labels=("component:ui",))]
    assert shape(choose_groups(issues, "component")) == [("issue-1", (1,)), ("issue-2", (2,)), ("ui", (3,))]


def test_branches_are_named_after_up_to_three_issues_else_after_the_key() -> None:
    """REQ-WF-004."""
    named = {
        numbers: group_issues([issue(n, labels=(f"component:{key}",)) for n in numbers], "component")[
            0
        ].suggested_branch
        for key, numbers in {"x": (7,), "y": (12, 7, 9), "Web UI (v2)": (1, 2, 3, 4), "인증": (5, 6, 7, 8)}.items()
    }
    assert list(named.values()) == ["fix/issue-7", "fix/issue-7-9-12", "fix/web-ui-v2-issues", "fix/group-5-issues"]


def test_groups_that_share_a_key_or_a_branch_get_a_number() -> None:
    """REQ-WF-004."""
    eight = [issue(n, labels=("component:ui",)) for n in range(1, 13)]
    branches = [group.suggested_branch for group in group_issues(eight, "component", 4)]
    assert branches == ["fix/ui-issues", "fix/ui-issues-2", "fix/ui-issues-3"]
    taken = {"fix/issue-7", "fix/issue-7-r2", "fix/ui-issues"}
    (again,) = group_issues([issue(7)], "similarity", taken_branches=taken)
    assert again.suggested_branch == "fix/issue-7-r3"
    assert group_issues(eight[:4], "component", taken_branches=taken)[0].suggested_branch == "fix/ui-issues-2"
    twice = group_issues([issue(7, labels=("a", "b"))], "label")
    assert [group.suggested_branch for group in twice] == ["fix/issue-7", "fix/issue-7-r2"]


def test_a_group_that_is_too_large_is_cut_by_ascending_number_and_says_so() -> None:
    """REQ-WF-006."""
    groups = group_issues([issue(n, labels=("bug",)) for n in (5, 3, 1, 2, 4, 6, 7)], "label", 5)
    assert shape(groups) == [("bug", (1, 2, 3, 4, 5)), ("bug", (6, 7))]
    assert groups[1].reasons == ("7 issues share the label bug", "part 2 of 2: a group holds at most 5")


def test_groups_of_one_size_come_by_their_lowest_number() -> None:
    """REQ-WF-005: a label, component or file without an issue is no group."""
    labelled = {8: "zoo", 3: "zoo", 9: "api", 2: "ui", 5: "ui", 1: "cli"}
    issues = [issue(number, labels=(f"component:{name}",)) for number, name in labelled.items()]
    assert shape(group_issues(issues, "component")) == [("ui", (2, 5)), ("zoo", (3, 8)), ("cli", (1,)), ("api", (9,))]
    for kind in ("component", "file", "label", "similarity"):
        assert group_issues([], kind) == ()


def test_githubs_own_form_is_read_and_pull_requests_are_left_out() -> None:
    rest: list[dict[str, Any]] = [
        {"number": 1, "title": "t", "body": None, "labels": [{"name": "bug", "color": "f00"}], "user": {"login": "a"}},
        {"number": 2, "title": "t", "labels": ["bug"], "id": 99},
        {"number": 3, "title": "t", "labels": ["bug"], "pull_request": {"url": "x"}},
        {"number": 2, "title": "again", "labels": ["bug"]},
    ]
    assert shape(group_issues(rest, "label")) == [("bug", (1, 2))]
    assert group_issues([], "label") == choose_groups([]) == ()


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("group_by", ([], "colour")),
        ("group_by", ([], ["label"])),
        ("max_group_size", ([], "label", 0)),
        ("max_group_size", ([], "label", True)),
        ("max_group_size", ([], "label", 2.5)),
        ("issues", ({"issues": []}, "label")),
        ("issues", ("issues", "label")),
        (r"issues\[0\]", (["x"], "label")),
        (r"issues\[1\]\.number", ([{"number": 1}, {"title": "x"}], "label")),
        (r"issues\[0\]\.number", ([{"number": "1"}], "label")),
        (r"issues\[0\]\.number", ([issue(0)], "label")),
        (r"issues\[0\]\.title", ([{"number": 1, "title": 5}], "label")),
        (r"issues\[0\]\.body", ([{"number": 1, "body": {}}], "label")),
        (r"issues\[0\]\.labels", ([{"number": 1, "labels": "bug"}], "label")),
        (r"issues\[0\]\.labels", ([{"number": 1, "labels": [5]}], "label")),
    ],
)
def test_bad_input_is_refused_naming_the_field(field: str, arguments: Any) -> None:
    with pytest.raises(UserError, match=f"^{field}:"):
        group_issues(*arguments)


_WORDS = st.sampled_from(
    ["login", "crash", "src/a.ts", "lib/b.py:3", "#1", "#2", "KeyError: x", "ui", "main.py", "the"]
)
_ISSUES = st.lists(
    st.builds(
        Issue,
        number=st.integers(1, 30),
        title=st.lists(_WORDS, max_size=4).map(" ".join),
        body=st.lists(_WORDS, max_size=6).map("\n".join),
        labels=st.lists(st.sampled_from(["bug", "ui", "component:A", "area:b", "인증", "auto-fix"]), max_size=3).map(
            tuple
        ),
    ),
    max_size=14,
    unique_by=lambda made: made.number,
)
_KINDS = st.sampled_from([None, "component", "file", "label", "similarity"])


@settings(max_examples=200, deadline=None)
@given(issues=_ISSUES, group_by=_KINDS, size=st.integers(1, 6), listing=st.booleans(), seed=st.integers(0, 9))
def test_any_issues_make_a_sorted_bounded_partition_on_free_branches(
    issues: list[Issue], group_by: str | None, size: int, listing: bool, seed: int
) -> None:
    """REQ-WF-005, REQ-WF-006."""
    taken = {"fix/issue-1", "fix/bug-issues", "fix/issue-2-r2", "fix/issue-2"}

    def ask(some: list[Issue]) -> tuple[Group, ...]:
        if listing and group_by is not None:
            return group_issues(some, group_by, size, taken_branches=taken)
        return choose_groups(some, group_by, size, taken_branches=taken)

    groups = ask(issues)
    named = [number for group in groups for number in group.issues]
    assert set(named) == {made.number for made in issues}
    assert len(named) == len(issues) or (listing and group_by == "label")
    assert all(0 < len(group.issues) <= size and list(group.issues) == sorted(set(group.issues)) for group in groups)
    assert [(-len(group.issues), group.issues) for group in groups] == sorted(
        (-len(g.issues), g.issues) for g in groups
    )
    branches = [group.suggested_branch for group in groups]
    assert len(set(branches)) == len(branches)
    assert not taken & set(branches)
    assert all(BRANCH.fullmatch(branch) and len(branch) <= 64 for branch in branches)
    assert all(group.key and group.reasons for group in groups)
    shuffled = random.Random(seed).sample(issues, len(issues))
    assert ask(shuffled) == groups


def test_a_group_that_people_chose_is_one_whatever_its_size() -> None:
    chosen = [Issue(number=number, title="t") for number in (9, 3, 30, 7, 12, 5)]
    group = pinned_group("Parser & more", chosen)
    assert group.issues == (3, 5, 7, 9, 12, 30)
    assert group.key == "Parser & more"
    assert group.suggested_branch == "fix/parser-more-issues"
    assert tuple(map(english, group.reasons)) == ("a comment grouped them",)
    assert BRANCH.fullmatch(pinned_group("파서", chosen).suggested_branch)


def test_an_issue_that_people_set_apart_is_a_group_of_its_own() -> None:
    group = pinned_group("issue-4", [Issue(number=4, title="t")])
    assert (group.issues, group.suggested_branch) == ((4,), "fix/issue-4")
    assert tuple(map(english, group.reasons)) == ("a comment gave this issue a group of its own",)
