"""Removes from the text of issues what comes from their template: headings, prompts, check boxes, versions. Two
issues from one template share all of that, and are not related for it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from bot.model import Issue
from bot.rules.grouping.template_files import NO_TEMPLATES, Templates, without_templates

MIN_ISSUES = 3
MAX_SHARE = 0.1
"""A line that this share of the issues have in common, and at least MIN_ISSUES, counts as their template's."""

_PROMPTS = "|".join(
    (
        r"a (?:clear and )?concise description of\b|if applicable, add\b|add any other context\b",
        r"steps to reproduce\b|please (?:complete|provide|describe|tell|fill|attach|include|search|read|check)\b",
        r"i have (?:searched|read|checked|verified|followed)\b|i(?:'m| am) (?:using|sure|willing)\b",
        r"what (?:happened|did you)\b",
        r"thanks for (?:taking|reporting)\b|what (?:version|browsers?|operating)\b|go to '\.\.\.'|click on '\.+'",
        r"scroll down to '\.+'|see error\s*$|_?no response_?$|n/a$",
    )
)
_FACTS = "|".join(
    (
        r"os|operating system|platform|environment|browsers?|device|desktop|smartphone|architecture|arch",
        r"shell|terminal",
        r"(?:[\w.@/+-]+ ){0,3}version(?: of [\w.@/+-]+)?|[\w.@/+-]+ v?\d+(?:\.\d+)+",
        r"node(?:\.js)?|npm|yarn|pnpm|python|pip|java|go|rust|ruby|php",
    )
)
_BOILERPLATE = re.compile(
    r"^[ \t>]*(?:#{1,6}[ \t].*|(?:[-*+][ \t]+|\d+\.[ \t]+)?\[[ xX]?\].*|\*\*[^*\n]+\*\*:?[ \t]*|__[^_\n]+__:?[ \t]*"
    rf"|(?:[-*+][ \t]+|\d+\.[ \t]+)?(?:{_PROMPTS}).*"
    rf"|(?:[-*+][ \t]+)?[*_]{{0,2}}(?:{_FACTS})[*_]{{0,2}}(?:[ \t]*[:=].*|[ \t]+v?\d[\w.+-]*[ \t]*|[ \t]*)"
    r"|[-=_*]{3,}[ \t]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_EVIDENCE = re.compile(r":\d|\", line \d|(?:Error|Exception|error|panic)\b")
"""The mark of a place or an error: related issues may share such a line."""


def own_bodies(issues: Sequence[Issue], templates: Templates = NO_TEMPLATES) -> Mapping[int, str]:
    """The body of each issue, by its number, without the text of its template: a known one, or one that shows in
    common prompts and in lines that many of `issues` share."""
    bodies = {issue.number: _BOILERPLATE.sub("", without_templates(issue.body or "", templates)) for issue in issues}
    if len(bodies) < MIN_ISSUES:
        return bodies
    lines = {number: [line.strip() for line in body.split("\n")] for number, body in bodies.items()}
    holders: Counter[str] = Counter()
    for own in lines.values():
        holders.update(set(own))
    min_holders = max(MIN_ISSUES, math.ceil(len(bodies) * MAX_SHARE))
    common = {line for line, count in holders.items() if line and count >= min_holders and not _EVIDENCE.search(line)}
    if not common:
        return bodies
    return {number: "\n".join(line for line in own if line not in common) for number, own in lines.items()}
