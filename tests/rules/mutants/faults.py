"""Writes the mutants of a text in a form that is easy to compare."""

from __future__ import annotations

from bot.rules.mutants.generate import mutants_of
from bot.rules.mutants.mutant import Mutant


def all_mutants(path: str, text: str) -> tuple[Mutant, ...]:
    """The mutants of every line."""
    return mutants_of(path, text, range(1, text.count("\n") + 2))


def results(path: str, text: str, kind: str) -> set[str]:
    """The texts with a fault of this kind each, without white space around them."""
    return {mutant.apply(text).strip() for mutant in all_mutants(path, text) if mutant.kind == kind}
