"""One table in two languages; and words of strangers stay words within GitHub's limits (T36, T39, T40)."""

from __future__ import annotations

import re
import string
from typing import Any

import pytest
from markdown_it import MarkdownIt

from bot.config import PolicyProblem
from bot.model import Annotation, KnownError, Language, StopReason, ValidationStep
from bot.model.pulls import Failure, PullCheck, PullView, Rate, Seen
from bot.reports.pull_checks import (
    awaiting_output,
    config_output,
    pull_check_output,
    superseded_output,
)
from bot.reports.pull_failures import VERDICTS
from bot.reports.pull_heads import filtered_output
from bot.reports.pull_words import ENGLISH, KOREAN
from tests.reports.test_golden import LANGUAGES
from tests.reports.test_messages import EVIL
from tests.reports.told_pulls import (
    FLAKY,
    VIEW,
    done,
)
from tests.reports.told_runs import BY_PERSON

OURS = re.compile(r"https://github\.com/acme/shop/(?:commit/[0-9a-f]{7,40}|pull/\d+|blob/[0-9a-f]{40}/[\w./%~-]+#L\d+)")


def test_both_languages_say_the_same_things_with_the_same_values() -> None:
    def values(sentence: str) -> set[str | None]:
        return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}

    assert ENGLISH.keys() == KOREAN.keys()
    assert {key: values(text) for key, text in ENGLISH.items()} == {key: values(text) for key, text in KOREAN.items()}


def strangers_words(body: str) -> str:
    """Everything but code, our own tags and links to the repository itself."""
    kept, tags, inside = [], "", False
    for token in MarkdownIt("commonmark").enable("table").parse(body):
        for child in [token] if token.children is None else token.children:
            assert child.type != "image", child
            if child.type in ("link_open", "link_close"):
                inside = child.type == "link_open"
                assert not inside or OURS.fullmatch(str(child.attrs["href"])), child
            elif child.type in ("html_block", "html_inline"):
                tags += child.content
                kept.append(re.sub(r"</?(details|summary|sub)>", "", child.content))
                assert "<" not in kept[-1], child.content
            elif not inside and child.type not in ("fence", "code_block", "code_inline"):
                kept.append(child.content)
    assert tags.count("<details>") == tags.count("</details>") and tags.count("<sub>") == tags.count("</sub>")
    return "\n".join(kept)


def assert_harmless(body: str) -> None:
    words = strangers_words(body)
    assert "@acme" not in words and not re.search(r"#\d|://|GH-\d", words)


def evil_check(text: str, many: int, **fields: Any) -> PullCheck:
    found = Annotation(path=f"a/{text[:300]}.py", start_line=1, end_line=1, level="failure", message=text, title=text)
    made = BY_PERSON.resolution.model_copy(update={"resolved_by": text, "how": text, "tool": text})
    known = KnownError(id=1, error=text, resolution=made)
    error = f"{text[:9]} {found.path[-9:]} {text[:150]}"
    failures = tuple(
        Failure(error=f"{error} {at}", verdict=VERDICTS[at % 3], seen=Seen(times=9, since=text), known=known)
        for at in range(many)
    )
    step = ValidationStep(
        command=text, stage=text[:9], passed=False, exit_code=1, output=text * 20, annotations=(found,) * many
    )
    return PullCheck(name=text, status="completed", step=step, failures=failures, **fields)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("many", [1, 300])
@pytest.mark.parametrize("text", [EVIL, EVIL + "😀" * 16_384, "😀" * 16_384 + EVIL, "`" * 3_000 + EVIL])
def test_no_stranger_speaks_and_no_limit_is_passed(text: str, many: int, language: Language) -> None:
    stop = StopReason(reason=text[:20], details=text)
    view = VIEW.model_copy(update={"sandbox": text, "author": text, "run_id": text[:30], "title": text, "stop": stop})
    kept = tuple(done(text, FLAKY, kept_from=text, because=text) for _ in range(30))
    check = evil_check(text, many, because=text, rate=Rate(flaky=1, runs=2))
    view = view.model_copy(update={"checks": (check, *kept)})
    base_less: PullView = view.model_copy(update={"base_sha": "", "status": "running"})
    outputs = [
        pull_check_output(view, check, language, evidence=text)[1],
        pull_check_output(base_less, check, language)[1],
        pull_check_output(view, kept[0], language)[1],
        pull_check_output(view, PullCheck(name=text), language)[1],
        pull_check_output(view, done(because=text), language)[1],
        pull_check_output(base_less, PullCheck(name=text, status="in_progress"), language)[1],
        superseded_output(view.model_copy(update={"stop": StopReason(reason="cancelled", details=text)}), language)[1],
        awaiting_output(view, language)[1],
        filtered_output(view, language)[1],
        config_output([PolicyProblem(key=text, message=text)] * many, text, language, in_force=True)[1],
    ]
    for output in outputs:
        assert len(output.title.encode()) <= 255 and "\n" not in output.title
        assert not re.search(r"@acme|#\d|://", output.title)
        for part in (output.summary, output.text):
            assert len(part.encode()) <= 65_535
            assert_harmless(part)
        assert output.summary.endswith("</sub>") or output is outputs[-1]
        assert len(output.annotations) <= 200
        assert all(len(found.message.encode()) <= 64_000 for found in output.annotations)
