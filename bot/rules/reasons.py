"""Sentences about a run that are told in more than one language, so that they travel as values: why issues are
together, why a run stopped, what it waits for. Here is their English, which is what programs are told.

Some have to go through a row that keeps text; whatever was written after a pattern of that table is read back."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bot.model.reasons import Reason
from bot.rules.rejection_reasons import REFUSED

__all__ = ["ROWS", "SENTENCES", "make_reason", "parse_reason"]

ROWS: Mapping[str, str] = {
    "wait.paused": "Paused on #{number} by `{by}`. Comment `/mendbot resume` on #{number} to continue",
    "wait.slot": "No worktree is free ({limit} of {limit} in use). The run proceeds automatically when one is",
    "wait.paths": "The run for {issues} is changing {paths}. This run starts automatically when that one ends",
    "stop.missed_closed": "#{number} was closed meanwhile",
    "stop.missed_transferred": "#{number} was transferred meanwhile",
    "stop.missed_unlabelled": "the label `{label}` was removed from #{number} meanwhile",
    "stop.missed_skipped": "the label `{label}` was added to #{number} meanwhile",
    "stop.unlabelled": "`{by}` removed the label `{label}` from #{number}",
    "stop.skipped": "`{by}` added the label `{label}` to #{number}",
    "stop.issue_closed": "#{number} was closed by `{by}`",
    "stop.issue_deleted": "#{number} was deleted by `{by}`",
    "stop.issue_transferred": "#{number} was transferred by `{by}`",
    "stop.pull_closed": "#{number} was closed",
    "stop.superseded": "superseded: {sha} is the head commit now",
    "stop.said": "`{by}` commented `/mendbot cancel`",
    "stop.regrouped": "`{by}` changed the group",
    "stop.pressed": "`{by}` clicked Cancel",
    "stop.http": "cancelled over HTTP",
    "stop.asked": "stopped on request",
    "given_up.tries": "still failing after {count} tries: {error}",
    "fault": "{error}: this is a fault of Mendbot; the log has the rest",
    "tests.only": "the change touches nothing but the tests that failed ({names}); change the code that they test",
    "tests.not_run": "{count} tests that failed before did not run and pass afterwards: {names}; keep them and"
    " change the code",
    "tests.not_run.one": "a test that failed before did not run and pass afterwards: {names}; keep it and change"
    " the code",
    "tests.gone": "{count} tests that passed before did not run afterwards: {names}; keep them",
    "tests.gone.one": "a test that passed before did not run afterwards: {names}; keep it",
    "tests.fewer": "{after} tests ran afterwards instead of {before}; keep every test, these too: {names}",
    "tests.fewer.unnamed": "{after} tests ran afterwards instead of {before}; keep every test",
    "unwanted.off": "`pull_requests.enabled` is false",
    "unwanted.label": "the pull request has the label `{label}`",
    "unwanted.draft": "the pull request is a draft",
    "unwanted.paused": "`{by}` paused Mendbot here",
    "fixers.nothing": "no lint or format check shows a finding that fixers may fix",
    "fixers.none": "no fixers are configured for these files",
    "fixers.off": "the configuration names no fixers (`fixers: []`)",
    "tried.run": "the same change was tried before in this run and did not pass",
    "tried.help": "the same change was tried before against the same error and did not help",
    "agent.unset": "no command is configured (MENDBOT_AGENT_COMMAND)",
    **REFUSED,
}
"""What rows keep. Those of `stop.` are the reasons that `rules.triage.issues` and the workflows give for cancelling,
those of `tests.` why a change is refused after which other tests ran."""

SENTENCES: Mapping[str, str] = {
    **ROWS,
    "max_iterations": "Reached maximum iterations ({done}/{most})",
    "max_duration": "Reached maximum duration ({done}min/{most}min)",
    "max_duration.paused": "Reached maximum duration ({done}min/{most}min, not counting {paused}min of pause)",
    "no_progress": "No progress detected for {count} consecutive iterations",
    "same_patch": "attempt {now} made the same change as attempt {then}, which did not pass",
    "oscillation.tree": "attempt {now} restored the exact files from after attempt {then} (0 = before any change)",
    "oscillation.error": "after attempt {now} the same error was back as after attempt {then} (0 = before any change)",
    "oscillation.errors": "after attempt {now} the same {count} errors were back as after attempt {then} (0 = "
    "before any change)",
    "stuck_error": "{count} attempts in a row ended with the same error and made no other progress: {error}",
    "stuck_error.more": "{count} attempts in a row ended with the same error and made no other progress: "
    "{error} (and {more} more)",
    "no_checks": "no check has a command, so nothing could show that a fix works. Mendbot looked for {looked}",
    "no_change": "the attempts cancelled each other out; nothing differs from the base commit",
    "no_agent": "no agent is configured: set MENDBOT_AGENTS, or `agents` in .github/mendbot.yml",
    "abandoned": "the process that worked on the run ended before it was done",
    "given_up": "gave up: the worker crashed repeatedly, or a step never finished",
    "setup.exit": "`{command}`: exit code {code}\n{block}",
    "setup.timed_out": "`{command}`: timed out\n{block}",
    "setup.over_memory": "`{command}`: needed more than {memory} of memory and was stopped\n{block}",
    "setup.not_started": "`{command}`: {error}\n{block}",
    "setup.lacks": "`{command}`: {what} was not found on Mendbot's machine; install it there, name its directory in"
    " MENDBOT_TOOLCHAINS, or set another `setup` in .github/mendbot.yml",
    "cannot_check.not_found": "checks can't run here: {what} is missing (`{command}`)",
    "cannot_check.not_executable": "checks can't run here: {what} may not be executed (`{command}`)",
    "cannot_check.no_module": "checks can't run here: the Python module {what} is not installed (`{command}`)",
    "cannot_check.no_script": "checks can't run here: package.json has no script {what} (`{command}`)",
    "cannot_check.no_target": "checks can't run here: there is no target {what} (`{command}`)",
    "cannot_check.no_file": "checks can't run here: the file {what} does not exist (`{command}`)",
    "cannot_check.not_started": "checks can't run here: {what} (`{command}`)",
    "cannot_check.not_set_up": "checks can't run here: `{command}` needs the project set up; `{what}` does that",
    "group.alone": "a comment gave this issue a group of its own",
    "group.together": "a comment grouped them",
    "group.shared.component": "{count} issues share the component {key}",
    "group.shared.component.one": "#{number} alone has the component {key}",
    "group.shared.file": "{count} issues share the file {key}",
    "group.shared.file.one": "#{number} alone has the file {key}",
    "group.shared.label": "{count} issues share the label {key}",
    "group.shared.label.one": "#{number} alone has the label {key}",
    "group.unknown.component": "{count} issues have no known component",
    "group.unknown.component.one": "#{number} has no known component",
    "group.unknown.file": "{count} issues have no known file",
    "group.unknown.file.one": "#{number} has no known file",
    "group.unknown.label": "{count} issues have no known label",
    "group.unknown.label.one": "#{number} has no known label",
    "group.part": "part {part} of {total}: a group holds at most {size}",
    "group.from.label": "#{number}: label {what}",
    "group.from.line": "#{number}: its Component line",
    "group.from.section": "#{number}: its Component section",
    "group.from.directory": "#{number}: the directory of {what}",
    "group.from.no_label": "#{number}: no label of its own",
    "group.from.nothing": "#{number}: names none",
    "group.each": "#{low} and #{high}: each refers to the other",
    "group.one_way": "#{low} and #{high}: one refers to the other",
    "group.error": "#{low} and #{high} both show the error `{what}`",
    "group.place": "#{low} and #{high} both point at {what}",
    "group.file": "#{low} and #{high} both name the file {what}",
    "group.words": "#{low} and #{high} are worded alike ({cosine}: {words})",
    "group.unlike": "#{number} is like no other issue",
}

_FIELD = re.compile(r"\\\{(\w+)\\\}")
_NUMBERS = frozenset({"number", "limit", "count"})


def _pattern(template: str) -> re.Pattern[str]:
    named: set[str] = set()

    def field(match: re.Match[str]) -> str:
        name = match.group(1)
        if name in named:
            return f"(?P={name})"
        named.add(name)
        return f"(?P<{name}>{'[0-9]+' if name in _NUMBERS else '.+'})"

    return re.compile(_FIELD.sub(field, re.escape(template)), re.DOTALL)


_READ = {kind: _pattern(template) for kind, template in ROWS.items()}


def make_reason(kind: str, **values: str | int) -> Reason:
    """The sentence of that kind; an unknown kind is a KeyError, a bug of ours."""
    return Reason(kind=kind, values=values, text=SENTENCES[kind].format(**values))


def parse_reason(text: str) -> Reason | None:
    """The sentence of a row that the text is; None for anybody else's words."""
    for kind, pattern in _READ.items():
        match = pattern.fullmatch(text)
        if match is not None:
            return Reason(kind=kind, values=match.groupdict(), text=text)
    return None
