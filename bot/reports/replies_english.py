"""What Mendbot answers to commands, in English; `reports.replies` tells what may be put into a sentence. What can be
wrong with a command stands with the nouns (`model.commands`), as the program's own `error` says it in English too."""

from __future__ import annotations

from collections.abc import Mapping

from bot.model.commands import PROBLEMS

REPLIES_ENGLISH: Mapping[str, str] = {
    **{f"problem.{key}": sentence for key, sentence in PROBLEMS.items()},
    "error": "{author}: this was not done.",
    "error.others": "{count} more lines with mistakes are not shown.",
    "error.others.one": "1 more line with a mistake is not shown.",
    "error.too_many": "{count} commands were left out, the first of them in line {line}. {why}",
    "error.too_many.one": "1 command was left out, in line {line}. {why}",
    "error.meant": "Did you mean {meant}?",
    "error.help": "{help} shows all commands.",
    "refused": "{command} was not done: {why}",
    "busy": "That makes {count} commands from you within an hour, as many as are taken. "
    "Please wait a while before the next.",
    "help": "**Commands**",
    "help.intro": "A command is a line of a comment that begins with {prefix}; a comment can hold up to five. "
    "Whoever may write to the repository can give them.",
    "help.author": "The author of a pull request from this repository can also give {verbs}.",
    "help.aliases": "Short forms here: {aliases}.",
    "help.command": "Command",
    "help.meaning": "What it does",
    "help.fix": "Makes and checks a fix, in at most N attempts.",
    "help.check": "Runs these checks on the latest commit; without a name, all of them.",
    "help.retest": "Runs again what failed, or the checks named.",
    "help.retry": "Tries again after a run that ended without success.",
    "help.cancel": "Stops what is running here.",
    "help.status": "Tells what is running and what came of the last run.",
    "help.group": "Shows which issues are fixed together, gives this one a run of its own, adds issues or takes them "
    "out (without a number, this one).",
    "help.apply": "Applies the diff from the code block below it and checks it.",
    "help.explain": "Explains what failed and what is known about it.",
    "help.history": "Tells which errors this file had and how they were resolved.",
    "help.resolved": "Records for the next time how the errors here were resolved.",
    "help.ok-to-test": "Lets the checks run on this one commit of somebody from outside; without a SHA, on the latest.",
    "help.pause": "Starts nothing here by itself until it is told to resume.",
    "help.resume": "Ends the pause.",
    "help.help": "Shows this table.",
    "done.fix": "Working on a fix: run {run}.",
    "done.fix.plain": "A fix will be worked on as soon as it is its turn.",
    "done.check": "These checks run on {sha}: {checks}.",
    "done.check.plain": "The checks will run as soon as it is their turn.",
    "done.retest": "These checks run again on {sha}: {checks}.",
    "done.retest.plain": "The checks will run again as soon as it is their turn.",
    "done.retry": "Trying again: run {run}.",
    "done.retry.plain": "It will be tried again as soon as it is its turn.",
    "done.cancel": "Stopped: {what}.",
    "done.cancel.plain": "Nothing was running here.",
    "done.group show": "Fixed together: {issues}.",
    "done.group show.plain": "This issue is fixed by itself.",
    "done.group split": "This issue gets a run of its own; it was together with {issues}.",
    "done.group split.plain": "This issue gets a run of its own.",
    "done.group add": "Worked on together now: {issues}.",
    "done.group add.plain": "These issues are in the group already.",
    "done.group remove": "Taken out of the group: {issues}.",
    "done.group remove.plain": "These issues are not in the group.",
    "done.apply": "The diff was applied in commit {sha}.",
    "done.apply.plain": "The diff will be applied and checked as soon as it is its turn.",
    "done.resolved": "Recorded how {count} errors were resolved.",
    "done.resolved.one": "Recorded how 1 error was resolved.",
    "done.resolved.plain": "There was no open error here to record it for.",
    "done.ok-to-test": "Commit {sha} is approved for its checks; a later one needs its own approval.",
    "done.ok-to-test.plain": "The latest commit is approved for its checks; a later one needs its own approval.",
    "done.pause.plain": "Paused: nothing starts here by itself until {resume}.",
    "done.resume.plain": "The pause is over.",
}
