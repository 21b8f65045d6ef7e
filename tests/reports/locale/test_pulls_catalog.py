"""One table in two languages; and words of strangers stay words within GitHub's limits (T36, T39, T40)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from bot.config import PolicyProblem
from bot.model import Annotation, KnownError, Language, ValidationStep
from bot.model.pulls import CheckStatus, Failure, FailureHistory, FlakyRate, PullCheckReport
from bot.model.reasons import ExplainedStop
from bot.reports.pulls.check_output import (
    awaiting_output,
    config_output,
    pull_check_output,
    superseded_output,
)
from bot.reports.pulls.failures import VERDICTS
from bot.reports.pulls.unchecked_heads import filtered_output
from bot.rules.reasons import quoted
from tests.reports.golden import LANGUAGES
from tests.reports.hostile_texts import EVIL
from tests.reports.locale.harmless_links import assert_harmless
from tests.reports.views_pulls import (
    FLAKY,
    VIEW,
    done,
)
from tests.reports.views_runs import BY_PERSON


def evil_check(text: str, many: int, **fields: Any) -> CheckStatus:
    found = Annotation(path=f"a/{text[:300]}.py", start_line=1, end_line=1, level="failure", message=text, title=text)
    made = BY_PERSON.resolution.model_copy(update={"resolved_by": text, "how": text, "tool": text})
    known = KnownError(id=1, error=text, resolution=made)
    error = f"{text[:9]} {found.path[-9:]} {text[:150]}"
    failures = tuple(
        Failure(error=f"{error} {at}", verdict=VERDICTS[at % 3], seen=FailureHistory(times=9, since=text), known=known)
        for at in range(many)
    )
    step = ValidationStep(
        command=text, stage=text[:9], passed=False, exit_code=1, output=text * 20, annotations=(found,) * many
    )
    return CheckStatus(name=text, status="completed", step=step, failures=failures, **fields)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("many", [1, 300])
@pytest.mark.parametrize("text", [EVIL, EVIL + "😀" * 16_384, "😀" * 16_384 + EVIL, "`" * 3_000 + EVIL])
def test_no_stranger_speaks_and_no_limit_is_passed(text: str, many: int, language: Language) -> None:
    stop = ExplainedStop(reason=text[:20], details=quoted(text))
    view = VIEW.model_copy(
        update={"sandbox": quoted(text), "author": text, "run_id": text[:30], "title": text, "stop": stop}
    )
    kept = tuple(done(text, FLAKY, kept_from=text, because=text) for _ in range(30))
    check = evil_check(text, many, because=text, rate=FlakyRate(flaky=1, runs=2))
    view = view.model_copy(update={"checks": (check, *kept)})
    base_less: PullCheckReport = view.model_copy(update={"base_sha": "", "status": "running"})
    outputs = [
        pull_check_output(view, check, language, evidence=text)[1],
        pull_check_output(base_less, check, language)[1],
        pull_check_output(view, kept[0], language)[1],
        pull_check_output(view, CheckStatus(name=text), language)[1],
        pull_check_output(view, done(because=text), language)[1],
        pull_check_output(base_less, CheckStatus(name=text, status="in_progress"), language)[1],
        superseded_output(
            view.model_copy(update={"stop": ExplainedStop(reason="cancelled", details=quoted(text))}), language
        )[1],
        awaiting_output(view, language)[1],
        filtered_output(view, language)[1],
        config_output([PolicyProblem(key=text, reason=quoted(text))] * many, text, language, in_force=True)[1],
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
