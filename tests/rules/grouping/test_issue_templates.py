"""Issues from one template are not alike for what the template says."""

from __future__ import annotations

import pytest

from bot.model import Issue
from bot.rules.grouping import group_issues
from bot.rules.grouping.issue_templates import own_bodies

TEMPLATE = """\
<!-- Thanks for reporting a bug! Please search existing issues first, see src/docs/guide.md and #1. -->

### Describe the bug
{bug}

### Steps to reproduce
{steps}

### Expected behavior
{expected}

### Environment
- OS: Ubuntu 24.04
- Browser: Firefox 131
- Version: 3.2.1
- Node version: 20.11.0

We ask everybody to run the latest release with a clean profile before opening a report here.
See CONTRIBUTING.md for how reports are handled by the maintainers of this project.

### Checklist
- [x] I have searched the existing issues
- [x] I have read the contributing guide
- [ ] I am willing to submit a pull request
"""
DEFAULT = """\
**Describe the bug**
{bug}

**To Reproduce**
Steps to reproduce the behavior:
{steps}

**Expected behavior**
{expected}

**Desktop (please complete the following information):**
 - OS: [e.g. iOS]
 - Browser [e.g. chrome, safari]
 - Version 22

**Additional context**
Add any other context about the problem here.
"""
TOLD = (
    ("Avatar upload fails", "Uploading a photo freezes.", "Open settings, choose a photo", "the photo is stored"),
    ("Dark mode ignores contrast", "Links are unreadable at night.", "Enable dark theme", "links are readable"),
    ("CSV export drops rows", "The last line is missing in the sheet.", "Export orders as CSV", "all orders are there"),
    ("Search hangs on quotes", "Typing a quotation mark hangs.", "Type a quote into the finder", "results appear"),
)
RELATED = (
    "Exported CSV misses the final row",
    "The last line of exported orders is missing in the sheet.",
    "Export orders as CSV and open the sheet",
    "all exported orders are in the CSV sheet",
)


def issues(template: str, told: tuple[tuple[str, str, str, str], ...]) -> list[Issue]:
    return [
        Issue(number=number, title=title, body=template.format(bug=bug, steps=steps, expected=expected))
        for number, (title, bug, steps, expected) in enumerate(told, 10)
    ]


def grouped(found: list[Issue]) -> list[tuple[int, ...]]:
    groups = group_issues(found, "similarity")
    return sorted(tuple(sorted(group.issues)) for group in groups)


@pytest.mark.parametrize("template", [TEMPLATE, DEFAULT], ids=["form", "default"])
def test_issues_that_share_a_template_alone_stay_alone(template: str) -> None:
    """REQ-WF-007."""
    assert grouped(issues(template, TOLD)) == [(10,), (11,), (12,), (13,)]
    assert grouped(issues(template, TOLD[:2])) == [(10,), (11,)]


@pytest.mark.parametrize("template", [TEMPLATE, DEFAULT], ids=["form", "default"])
def test_issues_that_belong_together_are_found_within_one_template(template: str) -> None:
    """REQ-WF-007."""
    assert grouped(issues(template, (*TOLD, RELATED))) == [(10,), (11,), (12, 14), (13,)]


def test_an_error_that_most_issues_show_is_no_template() -> None:
    said = "TypeError: cannot read total of null at src/cart.ts:31"
    found = issues(TEMPLATE, tuple((title, said, steps, wanted) for title, _, steps, wanted in TOLD))
    assert grouped(found) == [(10, 11, 12, 13)]


def test_what_an_issue_says_itself_stays() -> None:
    body = own_bodies(issues(TEMPLATE, TOLD))[10]
    assert body.strip().split("\n")[0] == "Uploading a photo freezes."
    assert "I have searched" not in body and "Firefox" not in body and "CONTRIBUTING" not in body
