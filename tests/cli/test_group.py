"""`mendbot group` as a process."""

from __future__ import annotations

import json

import pytest

from tests.cli.commands import mendbot


def test_group_reads_issues_as_githubs_api_gives_them() -> None:
    issues = [
        {"number": 2, "title": "b", "body": None, "labels": [{"name": "component:x"}]},
        {"number": 1, "title": "a", "body": "Component: X", "labels": []},
        {"number": 3, "title": "c", "body": "other", "labels": ["bug"]},
    ]
    done = mendbot("group", "--by", "component", stdin=json.dumps(issues))
    groups = json.loads(done.stdout)["groups"]
    assert [group["issues"] for group in groups] == [[1, 2], [3]]
    assert groups[0]["suggested_branch"] == "fix/issue-1-2"


@pytest.mark.parametrize("stdin", ["", "{", "{}", "[1]", '[{"title": "no number"}]', "[" * 100_000])
def test_group_refuses_what_is_no_list_of_issues(stdin: str) -> None:
    done = mendbot("group", "--by", "file", stdin=stdin)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
