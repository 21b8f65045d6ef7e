"""Texts of strangers, and what no message may hold of them."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

from bot.model import (
    Annotation,
    ErrorDelta,
    Issue,
    KnownError,
    Language,
    Phase,
    Proof,
    Resolution,
    RunView,
    Status,
    Validation,
    ValidationStep,
)
from bot.model.proof import MutantFigures, ProofLevel, Reproduction
from bot.model.reasons import ExplainedStop
from bot.model.report_views import Attempt, Conflict
from bot.model.runs import AttemptMetadata, RunMetadata
from bot.rules.reasons import quoted

LANGUAGES: tuple[Language, ...] = ("en", "ko")

EVIL = (
    "@acme/all fixes #1 <!-- mendbot:issue --> ```` </details> [x](https://evil.example) ![y](z) <b>|</b>"
    "\n````\n# out\x1b[1m"
)


def evil_view(status: Status, bulk: int = 1) -> RunView:
    step = ValidationStep(
        command=EVIL,
        stage=EVIL[:9],
        passed=False,
        exit_code=1,
        output=(EVIL + "😀") * bulk,
        annotations=(Annotation(path="a", start_line=1, end_line=1, level="failure", message=EVIL, title=EVIL),),
    )
    failed = Validation(passed=False, summary=EVIL, steps=(step,))
    moved = ErrorDelta(fixed=(EVIL,) * bulk, remaining=(EVIL * bulk,) * bulk, introduced=(EVIL,) * bulk)
    tried = Attempt(attempt=1, agent=EVIL, paths=(EVIL,) * bulk, result="failed", error_delta=moved, validation=failed)
    return RunView(
        run_id="run-1",
        repo="acme/shop",
        issues=tuple(Issue(number=number, title=EVIL * bulk) for number in (2, 3)),
        key=EVIL,
        reasons=(quoted(EVIL * bulk),) * 9,
        branch=EVIL,
        status=status,
        phase=Phase.VALIDATION,
        waiting_for=quoted(EVIL),
        attempt=2,
        agents=(EVIL, EVIL),
        baseline=failed,
        validations=(failed,) * min(2 * bulk, 300),
        changed_paths=tuple(f"{EVIL}{number}" for number in range(8 * bulk)),
        stop=ExplainedStop(reason=EVIL[:20], details=quoted(EVIL * bulk)),
        salvage_ref=EVIL,
        sandbox=quoted(EVIL),
        trigger_label=EVIL,
        evidence="",
        task=f"{EVIL}\n" * bulk,
        guidance=(evil_guidance(EVIL * bulk),) * min(2 * bulk, 9),
        recognised=tuple((found, evil_guidance(EVIL * bulk)) for found in step.annotations),
        error_delta=moved,
        attempts=(tried,) * min(2 * bulk, 300),
        conflicts=(Conflict(issues=(4,), pull=5, paths=(EVIL,) * bulk),) * bulk,
        seen=((EVIL, 3, EVIL), (EVIL * bulk, 4, "2026-05")),
        metadata=evil_metadata(bulk) if status.final else None,
        notes=(quoted(EVIL * bulk),) * bulk,
        proof=evil_proof("proven" if status is Status.SUCCESS else "unproven", EVIL * bulk),
    )


def evil_proof(level: ProofLevel, text: str) -> Proof:
    asked = Reproduction(agent=text, attempts=1, because=quoted(text))
    return Proof(
        level=level,
        because="failing_test" if level == "proven" else "few_mutants",
        before="green",
        tests=(text,) * 5,
        test_count=9,
        errors=(text,) * 5,
        error_count=9,
        mutants=MutantFigures(noticed=1, made=9, survivors=(text,) * 5),
        reproduction=asked,
    )


def evil_metadata(bulk: int) -> RunMetadata:
    attempt = AttemptMetadata(
        attempt=1,
        agent=EVIL,
        patch=EVIL,
        before=(EVIL,),
        before_count=1,
        after=None,
        after_count=0,
        fixed=0,
        remaining=0,
        introduced=0,
        result="failed",
        flaky=False,
        duration_ms=1,
    )
    return RunMetadata(
        run=EVIL,
        repo=EVIL,
        issues=(7,),
        decision="needs-human",
        shown=None,
        proof=evil_proof("unproven", EVIL),
        reason=EVIL,
        details=EVIL,
        base=EVIL,
        commit=None,
        best_attempt=None,
        most_attempts=3,
        attempts_left_out=0,
        attempts=(attempt,) * min(bulk, 50),
    )


def evil_guidance(text: str) -> KnownError:
    told = Resolution(
        resolved_by=text, tool=text, tool_sequence=(text,) * 3, how=text, repo="acme/shop", commit=text, patch=EVIL
    )
    return KnownError(id=1, error=text + "!", resolution=told)


def prose_of(body: str) -> str:
    """Everything but code and the tags that reports write themselves."""
    parser = MarkdownIt("commonmark").enable("table")
    kept, tags = [], ""
    for token in parser.parse(body):
        for child in [token] if token.children is None else token.children:
            assert child.type not in ("image", "link_open"), child
            if child.type in ("html_block", "html_inline"):
                own, tags = r"</?(details|summary|sub)>", tags + child.content
                kept.append(re.sub(own, "", child.content))
                assert "<" not in kept[-1], child.content
            elif child.type not in ("fence", "code_block", "code_inline"):
                kept.append(child.content)
    assert tags.count("<details>") == tags.count("</details>")
    return "\n".join(kept)


def assert_harmless(body: str) -> None:
    words = prose_of(body)
    assert "@acme" not in words and "fixes #1" not in words and "https://" not in words
