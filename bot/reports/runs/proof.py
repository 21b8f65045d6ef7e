"""The level of proof of a change in words, with its evidence: for pull requests, comments, titles and the terminal
(REQ-PROOF-001, REQ-PROOF-005)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.model import Language, Proof, RunView
from bot.reports.format.markdown import with_code
from bot.reports.format.truncate import inline_code, one_line
from bot.reports.locale.catalog import joined, t
from bot.reports.locale.reasons import reason_text

_NAME_CHARS = 100
_WHY_CHARS = 300
_BEFORE_IN_EVIDENCE = frozenset({"mutants", "unchecked"})
"""Reasons whose sentence says itself what the checks showed before the change."""


def is_shown(view: RunView) -> bool:
    """Returns whether the change of the run is proven."""
    return view.proof is not None and view.proof.proven


def proof_paragraph(view: RunView, language: Language) -> str:
    """Returns the level of the change and its evidence as Markdown; empty where nothing was decided."""
    proof = view.proof
    if proof is None:
        return ""
    evidence = _evidence(proof, language, lambda name: inline_code(name, _NAME_CHARS))
    text = " ".join(part for part in (evidence, _no_failing_test(proof, language)) if part)
    issues = joined(language, [f"#{issue.number}" for issue in view.issues])
    key = f"proof.{proof.level}" if issues or proof.level != "unproven" else "proof.unproven.task"
    return t(language, key, evidence=text, what=issues, count=len(view.issues))


def proof_title(view: RunView, language: Language) -> str:
    """Returns the level and its evidence as plain text in one line; empty where nothing was decided."""
    if view.proof is None:
        return ""
    evidence = _evidence(_shortened(view.proof), language, _plain)
    key = f"proof.title.{view.proof.level}"
    return one_line(t(language, key, evidence=evidence, attempt=view.attempt, most=view.max_attempts))


def proof_line(proof: Proof, language: Language) -> str:
    """Returns the level and its evidence for a terminal, or for a commit message."""
    return one_line(t(language, f"proof.line.{proof.level}", evidence=_evidence(proof, language, _plain)))


def _shortened(proof: Proof) -> Proof:
    """The proof with one test and one error at most, so that a title is not cut off before its end."""
    return proof.model_copy(update={"tests": proof.tests[:1], "errors": proof.errors[:1]})


def _plain(name: str) -> str:
    return one_line(name, _NAME_CHARS)


def _evidence(proof: Proof, language: Language, name: Callable[[str], str]) -> str:
    """Returns the evidence, and what the checks showed before the change."""
    before = proof.because not in _BEFORE_IN_EVIDENCE and proof.before != "unknown"
    parts = (_reason(proof, language, name), t(language, f"proof.before.{proof.before}") if before else "")
    return " ".join(part for part in parts if part)


def _reason(proof: Proof, language: Language, name: Callable[[str], str]) -> str:
    key = f"proof.{proof.because}"
    if proof.because in ("errors_gone", "failing_test") and proof.tests:
        tests = _listed(proof.tests, proof.test_count, language, name)
        return t(language, f"{key}.tests", tests=tests, count=proof.test_count)
    if proof.because == "errors_gone" and proof.errors:
        return t(language, f"{key}.errors", errors=_listed(proof.errors, proof.error_count, language, name))
    if proof.mutants is not None and proof.because in ("mutants", "few_mutants"):
        key += ".red" if proof.level == "covered" and proof.before == "red" else ""
        return t(language, key, noticed=proof.mutants.noticed, made=proof.mutants.made)
    return t(language, key)


def _listed(names: Sequence[str], count: int, language: Language, name: Callable[[str], str]) -> str:
    shown = [name(one) for one in names]
    if count > len(shown):
        return t(language, "proof.more", listed=", ".join(shown), count=count - len(shown))
    return joined(language, shown)


def _no_failing_test(proof: Proof, language: Language) -> str:
    """Returns why no agent gave a failing test first, where that was asked and the change is not proven."""
    asked = proof.reproduction
    if asked is None or asked.because is None or proof.proven:
        return ""
    return t(language, "proof.no_failing_test", why=with_code(reason_text(asked.because, language), _WHY_CHARS))
