"""Finds the files with findings of a project's own lint or format check, and those of them that mechanical fixers may
edit.

A formatter does not know the task, so it only edits files with such findings, and never documents or lock files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from bot.model import Annotation, StyleFindings, Validation, ValidationStep
from bot.rules.patches.change_policy import LOCK_FILES

_DOCUMENTS = ("*.md", "*.mdx", "*.markdown", "*.rst", "*.txt", "*.adoc")
_DOCUMENT_DIRECTORIES = frozenset({"doc", "docs"})
_FORMAT_CHECK = re.compile(
    r"\b(?:ruff format|black|isort|prettier|rustfmt|cargo fmt|biome)\b.*\s--?(?:check|diff|list-different|c|l)\b"
    r"|\bgofmt\b.*\s-(?:l|d)\b|\bformat[:-]check\b"
)
_UNFORMATTED = re.compile(r"\bunformatted\b|not (?:properly )?formatted|would (?:be )?reformat|Imports are incorrectly")
_ABOUT_LINT = re.compile(
    r"\b(?:lint\w*|code ?style|style guide|coding style|unused (?:import|variable|local)\w*|ruff|eslint"
    r"|flake8|pylint|prettier|isort|gofmt|rustfmt|clippy|stylelint)\b|린트|린터|코드 ?스타일|사용하지 않는 임포트",
    re.IGNORECASE,
)
_ABOUT_FORMAT = re.compile(r"\b(?:re|un)?format(?:s|ted|ters?|ting)?\b|포맷|포매|서식", re.IGNORECASE)


def is_style(step: ValidationStep) -> bool:
    """Whether the step is the project's lint or format check."""
    return step.stage == "lint" or bool(_FORMAT_CHECK.search(step.command))


def may_fix(path: str) -> bool:
    """Whether mechanical fixers may edit such a file at all."""
    parts = PurePosixPath(path).parts
    if not parts or _DOCUMENT_DIRECTORIES.intersection(part.lower() for part in parts[:-1]):
        return False
    return not any(fnmatchcase(parts[-1].lower(), glob.lower()) for glob in (*_DOCUMENTS, *LOCK_FILES))


def style_findings(validation: Validation | None) -> StyleFindings:
    """The files with findings of the lint or format check of a validation; empty where it did not fail."""
    lint: dict[str, None] = {}
    unformatted: dict[str, None] = {}
    for step in validation.steps if validation else ():
        if step.passed or not is_style(step):
            continue
        gravest = [one for one in step.annotations if one.level == "failure"] or step.annotations
        for one in gravest:
            (unformatted if _UNFORMATTED.search(f"{one.rule} {one.message}") else lint)[one.path] = None
        if _FORMAT_CHECK.search(step.command):
            # of `ruff check . && ruff format --check .` the second half has not run where the first failed
            unformatted |= lint
            # `gofmt -l` and `prettier -l` print nothing but the names
            unformatted |= dict.fromkeys(step.listed_files)
    return StyleFindings(lint=tuple(filter(may_fix, lint)), unformatted=tuple(filter(may_fix, unformatted)))


def about_style(text: str, findings: Sequence[Annotation]) -> bool:
    """Whether a text that asks for a fix is about these lint or format findings: it names linting or a rule of
    theirs, or speaks of format and names a file that has one. Dates are formatted too, so the word
    alone means little."""
    words = frozenset(re.findall(r"[\w./@-]+", text))
    if _ABOUT_LINT.search(text) or any(one.rule in words for one in findings if one.rule):
        return True
    names = {name for one in findings for name in (one.path, PurePosixPath(one.path).name)}
    return bool(_ABOUT_FORMAT.search(text)) and not names.isdisjoint(words)


def keeps(before: Validation | None, after: Validation) -> bool:
    """Whether the change of a turn that costs no attempt stays in the tree: all checks pass, or the check that
    failed before passes. A partial success would become part of another agent's change."""
    failed = next((at for at, step in enumerate(before.steps) if not step.passed), None) if before else None
    return after.passed or (failed is not None and failed < len(after.steps) and after.steps[failed].passed)
