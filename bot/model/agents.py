"""What agents are given, what they offer, and the changes that they make."""

from __future__ import annotations

from bot.model.base import CamelModel, Model
from bot.model.nouns import Validation
from bot.model.reasons import Reason


class Change(CamelModel):
    """One file's change from an agent (REQ-RUN-003): the diff first, then the fallback, then plain content."""

    path: str
    patch: str | None = None
    fallback_content: str | None = None
    content: str | None = None


class Applied(Model):
    """What `apply_changes` did to the tree: paths it wrote, and those for which the fallback was used."""

    paths: tuple[str, ...]
    fallbacks: tuple[str, ...] = ()


class StyleFindings(Model):
    """Files in which a project's own lint or format check found something; relative paths, each once."""

    lint: tuple[str, ...] = ()
    unformatted: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(dict.fromkeys((*self.lint, *self.unformatted)))


class AgentTask(Model):
    """What an agent is told (REQ-RUN-008). `focus` names the files the task is about; empty means any."""

    run_id: str
    attempt: int
    max_attempts: int
    task: str
    focus: tuple[str, ...] = ()
    previous: tuple[Validation, ...] = ()
    baseline: Validation | None = None
    guidance: tuple[str, ...] = ()
    failed_patches: tuple[str, ...] = ()
    style: StyleFindings = StyleFindings()
    """What mechanical fixers may work on (`rules.patches.style_findings`)."""
    fingerprints: tuple[str, ...] = ()
    """The failures to fix, as `rules.failures.errors` names them."""


class Proposal(Model):
    """What an agent offers: changes to apply, or a diff that its edits already made in the tree.

    `offered` false means it has nothing to offer, which costs no attempt. `because` says why.
    `note` is for the record. `replays` is the
    diff hash of the known resolution that it repeats: if it does not help, that one is a dead end too."""

    agent: str
    offered: bool
    changes: tuple[Change, ...] = ()
    edited_in_place: bool = False
    because: Reason | None = None
    note: str = ""
    tools: tuple[str, ...] = ()
    replays: str | None = None
    untouched: bool = False
    """It left the tree alone, so there is nothing to put back."""
