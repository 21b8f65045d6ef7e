"""What Mendbot answers to commands, in English; `reports.commands.replies` tells what may be put into a sentence. What
can be wrong with a command stands with the nouns (`model.commands`), as the program's own `error` says it in English
too."""

from __future__ import annotations

from collections.abc import Mapping

from bot.model.commands import PROBLEMS

REPLIES_ENGLISH: Mapping[str, str] = {
    **{f"problem.{key}": sentence for key, sentence in PROBLEMS.items()},
    "error": "{author}: this command did not run.",
    "error.others": "{count} more lines with mistakes are not shown.",
    "error.others.one": "1 more line with a mistake is not shown.",
    "error.too_many": "{count} commands did not run, the first of them in line {line}. {why}",
    "error.too_many.one": "1 command did not run, in line {line}. {why}",
    "error.meant": "Did you mean {meant}?",
    "error.help": "{help} shows all commands.",
    "refused": "{command} did not run: {why}",
    "busy": "Rate limit reached: {count} commands per person per hour. Try again later.",
    "help": "**Commands**",
    "help.intro": "A command is a line of a comment that begins with {prefix}; a comment can hold up to five. "
    "Everyone with write access can use them.",
    "help.author": "The author of a pull request from this repository can also use {verbs}.",
    "help.aliases": "Short forms here: {aliases}.",
    "help.command": "Command",
    "help.meaning": "What it does",
    "help.fix": "Makes a fix and checks it, in at most N attempts.",
    "help.check": "Runs these checks on the head commit; without a name, all of them.",
    "help.retest": "Re-runs the failed checks, or the named ones.",
    "help.retry": "Starts a new run after one that failed.",
    "help.cancel": "Cancels what is running here.",
    "help.status": "Shows what is running and how the last run ended.",
    "help.group": "Shows the group of this issue, splits this issue off, or adds or removes issues (without a "
    "number, this one).",
    "help.apply": "Applies the diff from the code block below it and checks it.",
    "help.explain": "Shows what failed, what was tried and what the error history knows.",
    "help.history": "Shows the past errors of this file and how they were fixed.",
    "help.resolved": "Records how the errors here were fixed.",
    "help.ok-to-test": "Approves one commit of an outside contributor for its checks; without a SHA, the head commit.",
    "help.pause": "Pauses automatic runs here until `/mendbot resume`.",
    "help.resume": "Ends the pause.",
    "help.help": "Shows this table.",
    "done.fix": "Working on a fix: run {run}.",
    "done.fix.plain": "The fix is queued.",
    "done.check": "These checks run on {sha}: {checks}.",
    "done.check.plain": "The checks are queued.",
    "done.retest": "These checks re-run on {sha}: {checks}.",
    "done.retest.plain": "The re-run is queued.",
    "done.retry": "Retrying: run {run}.",
    "done.retry.plain": "The retry is queued.",
    "done.cancel": "Cancelled: {what}.",
    "done.cancel.plain": "Nothing was running here.",
    "done.group show": "Grouped: {issues}.",
    "done.group show.plain": "This issue is in a group of its own.",
    "done.group split": "This issue is in a group of its own now. Its group was {issues}.",
    "done.group split.plain": "This issue is in a group of its own now.",
    "done.group add": "Grouped now: {issues}.",
    "done.group add.plain": "These issues are in the group already.",
    "done.group remove": "Removed from the group: {issues}.",
    "done.group remove.plain": "These issues are not in the group.",
    "done.apply": "The diff was applied in commit {sha}.",
    "done.apply.plain": "The diff is queued to be applied and checked.",
    "done.resolved": "Recorded how {count} errors were fixed.",
    "done.resolved.one": "Recorded how 1 error was fixed.",
    "done.resolved.plain": "No open error here to record a fix for.",
    "done.ok-to-test": "Commit {sha} is approved for its checks. Each later commit needs a new approval.",
    "done.ok-to-test.plain": "The head commit is approved for its checks. Each later commit needs a new approval.",
    "done.pause.plain": "Paused: automatic runs stay off here until {resume}.",
    "done.resume.plain": "The pause is over.",
}
