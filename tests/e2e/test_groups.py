"""Groups explain themselves: each issue's comment says who is in it, why, on which branch and how to change it; two
groups that would conflict say so. REQ-WF-007."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from demo.standin.server import StandIn
from tests.e2e.conftest import REPO, RIGHT, agent, label, wait_for_label
from tests.e2e.pull_world import comment_of, wait, wait_for_comment
from tests.e2e.server import Server

Serve = Callable[..., Server]

LENIENT = 'import sys\nsys.exit("42" not in open("answer.txt").read())\n'
SLOW = "checks:\n  test: { command: sleep 2 && python3 check.py, timeout: 20 }\n"


def test_each_comment_names_the_others_the_reasons_the_branch_and_how_to_change_it(
    github: StandIn, serve: Serve
) -> None:
    """G-2, REQ-WF-007."""
    world = github.world
    world.push_commit(REPO, "main", {".github/mendbot.yml": SLOW}, "ada")
    serve(MENDBOT_AGENT_COMMAND=agent(RIGHT), MENDBOT_QUIET_SECONDS="1")
    issues = {
        "Rounding of totals is off": "The invoice total loses one cent when a discount is rounded.",
        "Discount rounding loses a cent": "When a discount is rounded, the invoice total loses one cent.",
        "Follow-up of the totals": "As in #1, says @org/team.",
    }
    numbers = [world.create_issue(REPO, title, body, author="ada") for title, body in issues.items()]
    for number in numbers:
        world.add_label(REPO, number, "auto-fix", "ada")
    for number in numbers:
        body = wait_for_comment(github, number, "issue", "🔄")
        for other, title in zip(numbers, issues, strict=True):
            assert f"- #{other}: {title}" in body
        assert re.search(r"1 and \S*2 are worded alike \(0\.\d\d: [a-z, ]*discount", body), body
        assert "one refers to the other" in body
        assert "Branch: `fix/issue-1-2-3`." in body
        assert "`/mendbot group split`" in body and f"`/mendbot group remove #{numbers[-1]}`" in body
    for number in numbers:
        wait_for_label(github, number, "auto-fix-done")
    assert [pull.closes for pull in world.pulls(REPO)] == [tuple(numbers)]


FORM = """\
name: Fault
title: "[Fault]: "
body:
  - type: dropdown
    attributes:
      label: Which till?
      options: [front counter, kiosk]
  - type: textarea
    attributes:
      label: How should it behave?
      value: As in docs/tills/behaviour.md, the receipt roll was changed and the till restarted.
"""


def test_four_issues_from_one_form_about_four_things_get_four_pull_requests(github: StandIn, serve: Serve) -> None:
    """REQ-WF-007: the form alone would give them a file in common, and most of their words."""
    world = github.world
    world.push_commit(REPO, "main", {".github/ISSUE_TEMPLATE/fault.yml": FORM}, "ada")
    serve(MENDBOT_AGENT_COMMAND=agent(RIGHT), MENDBOT_QUIET_SECONDS="1")
    faults = {
        "Coupons count twice": "A voucher of ten percent takes twenty percent off.",
        "Drawer stays locked": "After midnight the cash compartment never opens.",
        "Scale shows pounds": "Fruit is weighed in the wrong unit since Monday.",
        "Language resets": "Every logout brings back Finnish menus.",
    }
    filled = "### Which till?\n\nkiosk\n\n### How should it behave?\n\n" + FORM.partition("value: ")[2]
    numbers = [world.create_issue(REPO, f"[Fault]: {title}", filled + own, "ada") for title, own in faults.items()]
    for number in numbers:
        world.add_label(REPO, number, "auto-fix", "ada")
    for number in numbers:
        wait_for_label(github, number, "auto-fix-done")
    assert sorted(pull.closes for pull in world.pulls(REPO)) == [(number,) for number in numbers]


def by_title(*titles: str) -> str:
    """An agent that answers each issue with an answer of its own, right by the lenient check."""
    script = (
        "import json, sys\nbrief = sys.stdin.read()\n"
        f"title = next(title for title in json.loads({json.dumps(json.dumps(titles))}) if title in brief)\n"
        'print(json.dumps({"changes": [{"path": "answer.txt", "content": "42 " + title + "\\n"}]}))\n'
    )
    return json.dumps(["python3", "-c", script])


def test_the_second_of_two_groups_that_conflict_says_so_and_a_closed_one_is_not_counted(
    github: StandIn, serve: Serve
) -> None:
    """Neither issue names the file, so neither waits for the other. REQ-WF-007."""
    world = github.world
    world.push_commit(REPO, "main", {"check.py": LENIENT}, "ada")
    titles = ("Totals", "Colours", "Speed")
    serve(MENDBOT_AGENT_COMMAND=by_title(*titles))
    one, two = (mended(github, title) for title in titles[:2])
    first, second = world.pulls(REPO)
    warning = f"⚠️ Would conflict with the change for #{one} (pull request #{first.number}) in `answer.txt`."
    assert warning in second.body
    wait_for_comment(github, two, "issue", warning)
    assert "⚠️" not in first.body + (comment_of(github, one, "issue") or "")

    requests = [request.path for request in world.requests]
    pushes = [at for at, path in enumerate(requests) if path.endswith("/git-receive-pack")]
    assert pushes[0] < requests.index(f"/repos/{REPO}/pulls/{first.number}") < pushes[-1], "asked after the push"

    world.close_issue(REPO, first.number, "ada")
    world.merge_pull(REPO, second.number, "ada")
    world.push_commit(REPO, "main", {"answer.txt": "41\n"}, "ada")  # on checks that pass no fix is claimed
    three = mended(github, titles[2])
    assert "⚠️" not in world.pulls(REPO)[2].body + (comment_of(github, three, "issue") or "")


def mended(github: StandIn, title: str) -> int:
    number = label(github, title, "It could be better.")
    wait_for_label(github, number, "auto-fix-done")
    wait(github, lambda: "✅" in (comment_of(github, number, "issue") or ""), f"the success of #{number} to be told")
    return number
