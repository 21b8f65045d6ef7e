"""Removes from the text of issues what comes from their template: headings, prompts, check boxes, versions. Two
issues from one template share all of that, and are not related for it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from bot.model import Issue

MIN_ISSUES = 3
"""The minimum number of issues for a line that most of them share to count as the template's."""

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
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


def own_bodies(issues: Sequence[Issue]) -> Mapping[int, str]:
    """The body of each issue, by its number, without the text of its template."""
    bodies = {issue.number: _without_prompts(issue.body or "") for issue in issues}
    if len(bodies) < MIN_ISSUES:
        return bodies
    lines = {number: [line.strip() for line in body.split("\n")] for number, body in bodies.items()}
    holders: Counter[str] = Counter()
    for own in lines.values():
        holders.update(set(own))
    most = max(MIN_ISSUES, len(bodies) // 2 + 1)
    common = {line for line, count in holders.items() if line and count >= most and not _EVIDENCE.search(line)}
    if not common:
        return bodies
    return {number: "\n".join(line for line in own if line not in common) for number, own in lines.items()}


def _without_prompts(body: str) -> str:
    body = body.replace("\r\n", "\n")
    if "<!--" in body:
        body = _COMMENT.sub(" ", body)
    return _BOILERPLATE.sub("", body)
