"""A reason is a value with the fields of its kind, and becomes text in each language."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import bot
from bot.errors import Stale
from bot.model import Issue
from bot.model.reasons import ExplainedStop, Reason
from bot.reports.locale.catalog import messages
from bot.reports.locale.reasons import english, english_json, reason_text, user_error
from bot.rules.events.types import IssueClosed
from bot.rules.grouping import group_issues
from bot.rules.grouping.groups import choose_groups
from bot.rules.reasons import all_reasons, error_reason, make_reason, quoted
from bot.rules.triage.decide import decide
from bot.rules.triage.decisions import CancelRun
from tests.rules.triage.issue_events import POLICY, facts, labeled, unlabeled

EVIL = "a, which b paused (1 of 1 in use) {x} \n@ann"
KINDS = sorted(
    {key.removeprefix("reason.").removesuffix(".one") for key in messages("en") if key.startswith("reason.")}
)
MIN_WORDS = 4
"""Of a message with fewer of its own there may be nothing to translate."""


def fields(kind: str) -> set[str]:
    texts = (messages("en").get(key, "") for key in (f"reason.{kind}", f"reason.{kind}.one"))
    return {name for text in texts for name in re.findall(r"\{(\w+)\}", text)} - {"file"}


def values(kind: str) -> dict[str, str | int]:
    return {name: 7 if name in ("number", "limit", "count") else EVIL for name in fields(kind)}


def test_each_kind_is_worded_in_both_languages_with_its_own_fields() -> None:
    without_value, untranslated = [], []
    for kind in KINDS:
        reason = make_reason(kind, **values(kind))
        if EVIL in values(kind).values() and EVIL not in english(reason):
            without_value.append(kind)
        own = re.sub(r"\{\w+\}|`[^`]*`", "", messages("en")[f"reason.{kind}"])
        if len(re.findall(r"[A-Za-z]{2,}", own)) >= MIN_WORDS and not re.search("[가-힣]", reason_text(reason, "ko")):
            untranslated.append(kind)
    assert (without_value, untranslated) == ([], [])


def made() -> Iterator[tuple[str, ast.Call]]:
    """Every call that makes a reason, with its place."""
    for path in sorted(Path(bot.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "make_reason":
                yield f"{path.name}:{node.lineno}", node


def kinds_of(argument: ast.expr) -> list[str]:
    match argument:
        case ast.Constant(str(kind)):
            return [kind]
        case ast.IfExp():
            return kinds_of(argument.body) + kinds_of(argument.orelse)
        case _:
            return []


def test_the_calls_that_make_a_reason_give_the_fields_of_its_message() -> None:
    wrong, named = [], 0
    for at, call in made():
        given = {word.arg for word in call.keywords}
        for kind in kinds_of(call.args[0]):
            named += 1
            if kind not in KINDS or (None not in given and given != fields(kind)):
                wrong.append((at, kind, given))
    assert wrong == [] and named > 150


def test_every_message_of_a_reason_is_of_one_that_is_made() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in sorted(Path(bot.__file__).parent.rglob("*.py")))
    texts = set(re.findall(r"""["']([\w.]+)["']""", code))
    stems = {f"{stem}." for stem in re.findall(r"""f["']([\w.]+)\.\{""", code)}
    stems |= set(re.findall(r"""f["']([\w.]+_)\{""", code))
    assert [kind for kind in KINDS if kind not in texts and not kind.startswith(tuple(stems))] == []


def test_a_reason_without_a_message_or_a_field_of_it_is_a_bug() -> None:
    for wrong in (make_reason("wait.paused", number=7), make_reason("wait.for_godot")):
        with pytest.raises(KeyError):
            english(wrong)


def test_a_reason_is_stored_and_compared_as_a_value() -> None:
    inner = make_reason("stop.said", by="a`b: c; d")
    stop = ExplainedStop.of("cancelled", all_reasons([inner, quoted("x")]))
    assert ExplainedStop.model_validate_json(stop.model_dump_json()) == stop
    assert len({inner, Reason.model_validate(inner.model_dump()), quoted("x")}) == 2


def test_programs_get_english_where_a_reason_stands() -> None:
    stop = ExplainedStop.of("cancelled", make_reason("stop.said", by="ann"))
    sent = {"stop": stop.model_dump(mode="json"), "notes": [quoted("x").model_dump(mode="json")], "kind": "y"}
    assert english_json(sent) == {
        "stop": {"reason": "cancelled", "details": "`ann` commented `/mendbot cancel`"},
        "notes": ["x"],
        "kind": "y",
    }


def test_many_reasons_are_one_and_the_rest_is_counted() -> None:
    few = [quoted(str(number)) for number in range(4)]
    assert all_reasons(few[:1]) == few[0]
    assert english(all_reasons(few)) == "0; 1; 2; 3"
    assert english(all_reasons(few, 2)) == "0; 1; and 2 more"


def test_a_text_in_a_reason_is_masked_however_deep_it_stands() -> None:
    deep = make_reason("agent", agent="secret", why=all_reasons([quoted("a secret"), quoted("secret b")]))
    assert english(deep.map_text(lambda text: text.replace("secret", "***"))) == "`***`: a ***; *** b"


def test_an_error_keeps_its_reason_and_any_other_is_quoted() -> None:
    because = make_reason("stop.said", by="ann")
    assert error_reason(user_error(because)) == because and str(user_error(because)) == english(because)
    assert error_reason(Stale("gone")) == quoted("gone")


def test_every_reason_for_which_an_issue_stops_a_run_names_who_did_it() -> None:
    gone = [
        IssueClosed(repo=labeled().repo, issue=labeled().issue, how=how, sender="ann", sender_is_bot=False, at=None)
        for how in get_args(get_type_hints(IssueClosed)["how"])
    ]
    for event in (*gone, unlabeled(), labeled("auto-fix-skip")):
        (decision,) = decide(event, POLICY, facts(open_run=True))
        assert isinstance(decision, CancelRun)
        assert decision.because.values["by"] == "ann" and "`ann` 님이" in reason_text(decision.because, "ko")


def test_a_group_of_a_run_has_its_reasons_as_values_and_a_listing_has_them_as_text() -> None:
    issues = [
        Issue(number=1, title="Totals", body="Component: Cart\nsee #2 in a/b.py"),
        Issue(number=2, title="Totals", body="see #1 in a/b.py", labels=("area:cart", "ui")),
        *(Issue(number=number, title=f"Other {number}", body="") for number in range(3, 6)),
    ]
    for way in ("component", "file", "label", "similarity"):
        runs, listed = choose_groups(issues, way, 2), group_issues(issues, way, 2)
        assert all(group.reasons and all(map(english, group.reasons)) for group in runs)
        assert all(isinstance(text, str) for group in listed for text in group.reasons)
        assert all(set(group.model_dump()) == {"key", "issues", "suggested_branch", "reasons"} for group in listed)
