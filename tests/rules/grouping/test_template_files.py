"""The text that a repository's issue templates, Markdown and forms, put into issues is read, and taken out again."""

from __future__ import annotations

import time

import pytest

from bot.model import Issue
from bot.rules.grouping import group_issues
from bot.rules.grouping.groups import choose_groups
from bot.rules.grouping.template_files import NO_TEMPLATES, Templates, own_title, read_templates, without_templates
from tests.machine import CPU_S

FORM = """\
name: Fault of a till
description: Something does not work
title: "[Till]: "
body:
  - type: markdown
    attributes:
      value: Shown in the form alone.
  - type: dropdown
    attributes:
      label: Which kind of till?
      options: [front counter, kiosk, 3]
  - type: textarea
    attributes:
      label: How should the till behave?
      description: Not part of the issue
      value: |
        As in docs/tills/behaviour.md, the till should print
        Serial number: none
  - type: checkboxes
    attributes:
      label: Promises
      options:
        - label: The till was restarted and the receipt roll was changed before this report.
          required: true
"""
FILLED = """\
### Which kind of till?

front counter

### How should the till behave?

As in docs/tills/behaviour.md, the till should print
Serial number: {serial}
{own}

### Promises

- [X] The till was restarted and the receipt roll was changed before this report.
"""
MARKDOWN = """\
---
name: Fault
about: Something does not work
title: "FAULT - "
---
<!-- Never shown, in src/never.py -->
Our shop assistants read docs/tills/behaviour.md before they report a fault.

Till model: (front counter, kiosk)
Receipt printed: yes/no

Component: (till, scale)
"""
ANSWERED = """\
Our shop assistants read docs/tills/behaviour.md before they report a fault.\r
\r
Till model: front counter\r
Receipt printed: yes\r
\r
Component: (till, scale)\r
{own}\r
"""
FAULTS = (
    ("Coupons count twice", "A voucher of ten percent takes twenty percent off."),
    ("Drawer stays locked", "After midnight the cash compartment never opens."),
    ("Scale shows pounds", "Fruit is weighed in the wrong unit since Monday."),
    ("Language resets", "Every logout brings back Finnish menus."),
)


def from_form() -> list[Issue]:
    return [
        Issue(number=number, title=f"[Till]: {title}", body=FILLED.format(own=own, serial=number))
        for number, (title, own) in enumerate(FAULTS, 1)
    ]


def from_markdown() -> list[Issue]:
    return [
        Issue(number=number, title=f"FAULT - {title}", body=ANSWERED.format(own=own))
        for number, (title, own) in enumerate(FAULTS, 1)
    ]


CASES = [
    pytest.param(from_form(), read_templates({".github/ISSUE_TEMPLATE/till.yml": FORM}), id="form"),
    pytest.param(from_markdown(), read_templates({".github/ISSUE_TEMPLATE/fault.md": MARKDOWN}), id="markdown"),
]


@pytest.mark.parametrize(("issues", "templates"), CASES)
@pytest.mark.parametrize("count", [2, 4])
def test_issues_of_one_template_about_several_things_are_as_many_groups(
    issues: list[Issue], templates: Templates, count: int
) -> None:
    """REQ-WF-007: by words, and by the file and the component that the template names."""
    few = issues[:count]
    assert [group.issues for group in group_issues(few, "similarity", templates=templates)] == [
        (issue.number,) for issue in few
    ]
    assert [group.issues for group in choose_groups(few, templates=templates)] == [(issue.number,) for issue in few]
    assert len(choose_groups(few)) < count, "the template alone joined them"


@pytest.mark.parametrize(("issues", "templates"), CASES)
def test_issues_of_one_template_about_one_thing_are_one_group(issues: list[Issue], templates: Templates) -> None:
    """REQ-WF-007."""
    again = issues[1].model_copy(
        update={
            "number": 9,
            "title": "Cash drawer locked after midnight",
            "body": issues[1].body.replace(FAULTS[1][1], "The compartment for cash is locked after midnight."),
        }
    )
    (group, *rest) = choose_groups([*issues, again], templates=templates)
    assert (group.issues, len(rest)) == ((2, 9), 3)
    assert group.reasons[0].kind == "group.words"


def test_what_people_wrote_stays() -> None:
    templates = read_templates({"till.yml": FORM})
    body = without_templates(FILLED.format(own="TypeError: id of null in src/a.py:3", serial="X-77"), templates)
    assert body.split() == ["X-77", "TypeError:", "id", "of", "null", "in", "src/a.py:3"]
    assert without_templates("Serial number: 1 <!-- a\nb --> 2\nfront", templates) == " 1   2\nfront"
    assert without_templates("a\r\nb", NO_TEMPLATES) == "a\nb"


def test_an_answered_component_counts_and_a_prompt_that_nobody_answered_does_not() -> None:
    """REQ-WF-001."""
    templates = read_templates({"fault.md": MARKDOWN})
    bodies = [ANSWERED.format(own="x"), ANSWERED.format(own="y").replace("(till, scale)", "Scale")]
    issues = [Issue(number=number, title="t", body=body) for number, body in enumerate(bodies, 1)]
    groups = group_issues(issues, "component", templates=templates)
    assert [(group.key, group.issues) for group in groups] == [("unknown", (1,)), ("scale", (2,))]


@pytest.mark.parametrize(
    ("title", "own"),
    [
        ("[till]: Drawer", "Drawer"),
        ("FAULT -  Drawer", "Drawer"),
        ("Drawer [Till]: x", "Drawer [Till]: x"),
        ("Bug", "Bug"),
    ],
)
def test_a_title_loses_the_beginning_of_its_template(title: str, own: str) -> None:
    templates = read_templates({"a.yaml": FORM, "b.md": MARKDOWN, "c.md": "---\ntitle: Bug\n---\ntext"})
    assert own_title(title, templates) == own


@pytest.mark.parametrize(
    "text", ["", "a: [", "body: 3", "body: [3, {type: 3}, {attributes: {label: 1, options: 2}}]", "title: 3", "- a"]
)
def test_a_form_that_makes_no_sense_adds_nothing(text: str) -> None:
    assert read_templates({"x.yml": text}) == NO_TEMPLATES


@pytest.mark.parametrize("text", ["<!--", "---\n", "- [ ] ", ":", "a: &a [*a]\n", "body:\n- ", "{", "\t", "-->"])
@pytest.mark.parametrize("name", ["x.md", "x.yml"])
def test_no_template_takes_longer_than_reading_it(name: str, text: str) -> None:
    begun = time.process_time()
    templates = read_templates({name: (text * 16_384)[:16_384]})
    without_templates((text * 65_536)[:65_536], templates)
    assert time.process_time() - begun < CPU_S
