"""Sentences about a run that are told in more than one language, so that they travel as values: why issues are
together, why a run stopped, what it waits for. Here is their English, which is what programs are told.

Some have to go through a row that keeps text; whatever was written after a pattern of that table is read back."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bot.model.said import Said
from bot.rules.sayings_refused import REFUSED

__all__ = ["ROWS", "SENTENCES", "read", "write"]

ROWS: Mapping[str, str] = {
    "wait.paused": "/mendbot resume on #{number}, which {by} paused",
    "wait.slot": "a free worktree ({limit} of {limit} in use)",
    "wait.paths": "the group of {issues}, which is changing {paths}",
    "stop.missed_closed": "issue #{number} was closed meanwhile",
    "stop.missed_transferred": "issue #{number} was transferred meanwhile",
    "stop.missed_unlabelled": "the label '{label}' was taken off issue #{number} meanwhile",
    "stop.missed_skipped": "the label '{label}' was put on issue #{number} meanwhile",
    "stop.unlabelled": "{by} took the label '{label}' off issue #{number}",
    "stop.skipped": "{by} put the label '{label}' on issue #{number}",
    "stop.issue_closed": "issue #{number} was closed by {by}",
    "stop.issue_deleted": "issue #{number} was deleted by {by}",
    "stop.issue_transferred": "issue #{number} was transferred by {by}",
    "stop.pull_closed": "pull request #{number} was closed",
    "stop.superseded": "superseded: {sha} is the head now",
    "stop.said": "{by} said /mendbot cancel",
    "stop.regrouped": "{by} changed the group",
    "stop.pressed": "{by} pressed Cancel",
    "stop.http": "somebody asked to stop it over HTTP",
    "stop.asked": "asked to stop",
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
    **REFUSED,
}
"""What rows keep. Those of `stop.` are the reasons that `rules.triage` and the workflows give for cancelling, those of
`tests.` why a change is refused after which other tests ran."""

SENTENCES: Mapping[str, str] = {
    **ROWS,
    "max_iterations": "Reached maximum iterations ({done}/{most})",
    "max_duration": "Reached maximum duration ({done}min/{most}min)",
    "max_duration.paused": "Reached maximum duration ({done}min/{most}min, not counting {paused}min of pause)",
    "no_progress": "No progress detected for {count} consecutive iterations",
    "same_patch": "the change of state {now} is the one of state {then} again, which did not pass",
    "oscillation.tree": "going in circles: the tree of state {then} came back in state {now}",
    "oscillation.error": "going in circles: the same error of state {then} came back in state {now}",
    "oscillation.errors": "going in circles: the same {count} errors of state {then} came back in state {now}",
    "stuck_error": "{count} attempts in a row left the same error and won nothing beside it: {error}",
    "stuck_error.more": "{count} attempts in a row left the same error and won nothing beside it: {error}"
    " (and {more} more)",
    "no_checks": "no check has a command, so nothing could show that a fix works; looked for {looked}",
    "no_change": "the attempts undid one another: the tree is as the base is",
    "no_agent": "no agent is configured: set MENDBOT_AGENTS, or `agents` in .github/mendbot.yml",
    "abandoned": "the process that worked on it ended before it was done",
    "given_up": "its job was given up: the process ended too often while it worked on it, or a step ran without end",
    "setup.exit": "`{command}`: exit {code}\n{block}",
    "setup.timed_out": "`{command}`: timed out\n{block}",
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
    "group.alone": "somebody wants it in a run of its own",
    "group.together": "somebody put them together",
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
    "group.from.no_label": "#{number}: it has no label of its own",
    "group.from.nothing": "#{number}: it names none",
    "group.each": "#{low} and #{high}: each refers to the other",
    "group.one": "#{low} and #{high}: one refers to the other",
    "group.error": "#{low} and #{high} both show the error `{what}`",
    "group.place": "#{low} and #{high} both point at {what}",
    "group.file": "#{low} and #{high} both name the file {what}",
    "group.words": "#{low} and #{high} are worded alike ({cosine}: {words})",
    "group.unlike": "no other issue is like #{number}",
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


def write(kind: str, **values: str | int) -> Said:
    """The sentence of that kind; an unknown kind is a KeyError, a bug of ours."""
    return Said(kind=kind, values=values, text=SENTENCES[kind].format(**values))


def read(text: str) -> Said | None:
    """The sentence of a row that the text is; None for anybody else's words."""
    for kind, pattern in _READ.items():
        match = pattern.fullmatch(text)
        if match is not None:
            return Said(kind=kind, values=match.groupdict(), text=text)
    return None
