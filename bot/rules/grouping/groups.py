"""Which issues are fixed together, why, and on which branch (spec F). Groups by label may have an issue in common;
the groups of runs (`choose_groups`) never do."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, get_args

from bot.errors import UserError
from bot.model import GroupBy, Issue
from bot.model.issues import ExplainedGroup
from bot.model.reasons import Reason, Value
from bot.rules.grouping import references, similarity
from bot.rules.grouping.template_files import NO_TEMPLATES, Templates, without_templates, without_unanswered
from bot.rules.reasons import make_reason

UNKNOWN = "unknown"
"""The key of issues that name no component, file or label."""

_STATUSES = ("", "-processing", "-done", "-failed", "-skip")
_DEFAULT_TRIGGER = "auto-fix"
_SLUG_LENGTH = 45

_Keys = Callable[[Issue], Sequence[tuple[str, references.Place | None]]]


def list_groups(
    issues: Sequence[Issue] | Sequence[Mapping[str, Any]],
    group_by: str,
    max_group_size: int = 5,
    *,
    ignore_labels: Collection[str] = (),
    taken_branches: Collection[str] = (),
    templates: Templates = NO_TEMPLATES,
) -> tuple[ExplainedGroup, ...]:
    """Groups of at most `max_group_size`, the largest first, ties by the lowest number (REQ-WF-001..007).

    `issues` are models or GitHub's REST objects; pull requests among them are left out, repeated numbers count once.
    `ignore_labels`, each also with `-processing`, `-done`, `-failed` and `-skip`, are never a key, nor is `auto-fix`
    with these. No branch is one of `taken_branches` or used twice. Text of `templates` counts for nothing, and no file
    in it. Raises UserError with a reason that names the field."""
    read = _checked(issues, group_by, max_group_size)
    if group_by == "similarity":
        named = _by_similarity(read, max_group_size, templates)
    else:
        named = _parts(_by_key(read, _keys(group_by, ignore_labels, templates)), group_by, max_group_size)
    return _with_branches(named, frozenset(taken_branches))


def choose_groups(
    issues: Sequence[Issue] | Sequence[Mapping[str, Any]],
    group_by: str | None = None,
    max_group_size: int = 5,
    *,
    ignore_labels: Collection[str] = (),
    taken_branches: Collection[str] = (),
    templates: Templates = NO_TEMPLATES,
) -> tuple[ExplainedGroup, ...]:
    """As `list_groups`, but each issue is in exactly one group: of several candidates the larger, then the lower key.

    `group_by` None: issues that share a component, then those that share a file. What has no key goes by similarity."""
    read = _checked(issues, "similarity" if group_by is None else group_by, max_group_size)
    kinds = {None: ("component", "file"), "similarity": ()}.get(group_by, (group_by or "",))
    alone = 1 if group_by is None else 0
    named: list[ExplainedGroup] = []
    for kind in kinds:
        buckets = _one_each(_by_key(read, _keys(kind, ignore_labels, templates)))
        known = {key: found for key, found in buckets.items() if key != UNKNOWN and len(found) > alone}
        named += _parts(known, kind, max_group_size)
        placed = {issue.number for found in known.values() for issue, _ in found}
        read = [issue for issue in read if issue.number not in placed]
    named += _by_similarity(read, max_group_size, templates)
    return _with_branches(named, frozenset(taken_branches))


def pinned_group(key: str, issues: Sequence[Issue]) -> ExplainedGroup:
    """The group that people chose (`/mendbot group`), whatever its size."""
    reason = make_reason("group.alone" if len(issues) == 1 else "group.together")
    return _with_branches([_without_branch(key, [issue.number for issue in issues], [reason])], frozenset())[0]


# ---- input


def _checked(issues: object, group_by: object, max_group_size: object) -> list[Issue]:
    """The issues, lowest number first."""
    if group_by not in get_args(GroupBy):
        raise _invalid("grouping.by", value=repr(group_by), allowed=", ".join(get_args(GroupBy)))
    if not isinstance(max_group_size, int) or isinstance(max_group_size, bool) or max_group_size < 1:
        raise _invalid("grouping.size", value=repr(max_group_size))
    if not isinstance(issues, Sequence) or isinstance(issues, str | bytes):
        raise _invalid("grouping.no_issues")
    read: dict[int, Issue] = {}
    for index, item in enumerate(issues):
        issue = item if isinstance(item, Issue) else _issue(item, f"issues[{index}]")
        if issue is not None:
            if issue.number < 1:
                raise _invalid("grouping.number", issue=f"issues[{index}]", value=str(issue.number))
            read.setdefault(issue.number, issue)
    return [read[number] for number in sorted(read)]


def _invalid(kind: str, **values: Value) -> UserError:
    return UserError(because=make_reason(kind, **values))


def _issue(item: object, where: str) -> Issue | None:
    """GitHub's REST form of an issue; None for a pull request, which its lists hold too."""
    if not isinstance(item, Mapping):
        raise _invalid("grouping.no_object", issue=where)
    if item.get("pull_request") is not None:
        return None
    number = item.get("number")
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise _invalid("grouping.number", issue=where, value=repr(number))
    for field in ("title", "body"):
        if not isinstance(item.get(field), str | None):
            raise _invalid("grouping.no_text", issue=where, field=field)
    labels = item.get("labels")
    if not isinstance(labels, Sequence | None) or isinstance(labels, str):
        raise _invalid("grouping.no_labels", issue=where)
    names = [label.get("name") if isinstance(label, Mapping) else label for label in labels or ()]
    texts = tuple(name for name in names if isinstance(name, str))
    if len(texts) < len(names):
        raise _invalid("grouping.label", issue=where)
    return Issue(number=number, title=item.get("title") or "", body=item.get("body") or "", labels=texts)


# ---- by a key


def _keys(group_by: str, ignore_labels: Collection[str], templates: Templates) -> _Keys:
    """The function that finds an issue's keys: at least one, each with its place."""
    ignored = {label.casefold() + status for label in (_DEFAULT_TRIGGER, *ignore_labels) for status in _STATUSES}

    def labels(issue: Issue) -> Sequence[tuple[str, references.Place | None]]:
        own = dict.fromkeys(label for label in issue.labels if label.strip() and label.casefold() not in ignored)
        return [(label, None) for label in own] or [(UNKNOWN, references.Place("no_label"))]

    def component(issue: Issue) -> Sequence[tuple[str, references.Place | None]]:
        answered = issue.model_copy(update={"body": without_unanswered(issue.body, templates)})
        found = references.stated_component(answered) or references.directory_component(own(issue))
        return [found or (UNKNOWN, references.Place("nothing"))]

    def own(issue: Issue) -> Issue:
        return issue.model_copy(update={"body": without_templates(issue.body, templates)})

    def file(issue: Issue) -> Sequence[tuple[str, references.Place | None]]:
        path = references.first_file(own(issue))
        return [(path, None)] if path else [(UNKNOWN, references.Place("nothing"))]

    table: Mapping[str, _Keys] = {"label": labels, "component": component, "file": file}
    return table[group_by]


_Buckets = dict[str, list[tuple[Issue, references.Place | None]]]


def _by_key(issues: Iterable[Issue], keys: _Keys) -> _Buckets:
    """Issues under each of their keys, which ignore case; the lowest number's spelling is the one shown."""
    spelling: dict[str, str] = {}
    buckets: _Buckets = defaultdict(list)
    for issue in issues:
        seen: set[str] = set()
        for key, place in keys(issue):
            shown = spelling.setdefault(key.casefold(), key)
            if shown not in seen:
                seen.add(shown)
                buckets[shown].append((issue, place))
    return dict(buckets)


def _one_each(buckets: _Buckets) -> _Buckets:
    """Every issue in one bucket alone: the larger, then the lower key."""
    chosen: dict[int, str] = {}
    for key in sorted(buckets, key=lambda key: (-len(buckets[key]), key)):
        for issue, _ in buckets[key]:
            chosen.setdefault(issue.number, key)
    kept = {key: [it for it in found if chosen[it[0].number] == key] for key, found in buckets.items()}
    return {key: found for key, found in kept.items() if found}


def _parts(buckets: _Buckets, kind: str, size: int) -> list[ExplainedGroup]:
    """Groups without a branch yet, the larger buckets cut by ascending number (REQ-WF-006)."""
    named = []
    for key, found in buckets.items():
        total = -(-len(found) // size)
        for index in range(total):
            part = found[index * size : (index + 1) * size]
            reasons = [_key_reason(kind, key, len(found), part[0][0].number)]
            reasons += [_place_reason(issue.number, place) for issue, place in part if place]
            if total > 1:
                reasons.append(make_reason("group.part", part=index + 1, total=total, size=size))
            named.append(_without_branch(key, [issue.number for issue, _ in part], reasons))
    return named


def _without_branch(key: str, numbers: Iterable[int], reasons: Sequence[Reason]) -> ExplainedGroup:
    return ExplainedGroup(key=key, issues=tuple(sorted(numbers)), suggested_branch="", reasons=tuple(reasons))


def _key_reason(kind: str, key: str, count: int, number: int) -> Reason:
    known = key != UNKNOWN
    name = f"group.{'shared' if known else 'unknown'}.{kind}"
    return make_reason(name, count=count, number=number, **({"key": key} if known else {}))


def _place_reason(number: int, place: references.Place) -> Reason:
    """The place in an issue that its key comes from."""
    return make_reason(f"group.from.{place.kind}", number=number, **({"what": place.what} if place.what else {}))


# ---- by similarity


def _by_similarity(issues: Sequence[Issue], size: int, templates: Templates) -> list[ExplainedGroup]:
    """Groups made along the links, the most similar issues first, none larger than `size`."""
    members = {issue.number: [issue.number] for issue in issues}
    reasons: dict[int, list[Reason]] = {issue.number: [] for issue in issues}
    for link in similarity.links(issues, templates):
        low, high = members[link.low], members[link.high]
        if low is high or len(low) + len(high) > size:
            continue
        reasons[low[0]] += [*reasons[high[0]], link.reason]
        low += high
        for number in high:
            members[number] = low
    named = []
    for number in sorted({found[0] for found in members.values()}):
        numbers = sorted(members[number])
        alone = make_reason("group.unlike", number=number)
        key = f"similar-{numbers[0]}" if len(numbers) > 1 else f"issue-{number}"
        named.append(_without_branch(key, numbers, reasons[members[number][0]] or [alone]))
    return named


# ---- branches


def _with_branches(named: Iterable[ExplainedGroup], taken: frozenset[str]) -> tuple[ExplainedGroup, ...]:
    """The groups, sorted (REQ-WF-005), each with a branch of its own (REQ-WF-004, spec G.5)."""
    used = set(taken)
    done = []
    for group in sorted(named, key=lambda group: (-len(group.issues), group.issues, group.key)):
        branch = _free_branch(group, used)
        used.add(branch)
        done.append(group.model_copy(update={"suggested_branch": branch}))
    return tuple(done)


def _free_branch(group: ExplainedGroup, used: Collection[str]) -> str:
    if len(group.issues) <= 3:
        # `-2` would read as one more issue
        plain, again = f"fix/issue-{'-'.join(map(str, group.issues))}", "-r"
    else:
        plain, again = f"fix/{_slug(group.key) or f'group-{group.issues[0]}'}-issues", "-"
    count, branch = 1, plain
    while branch in used:
        count += 1
        branch = f"{plain}{again}{count}"
    return branch


def _slug(key: str) -> str:
    """The key in the alphabet of branches, `[a-z0-9-]`; empty for a key without such characters, as in Hangul."""
    ascii_text = unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", ascii_text).strip("-")[:_SLUG_LENGTH].rstrip("-")
