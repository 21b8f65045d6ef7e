"""What answers to commands say of their own accord, in English; a part of `reports.english`."""

from __future__ import annotations

from collections.abc import Mapping

ANSWERS_ENGLISH: Mapping[str, str] = {
    "nothing": "Nothing has run here yet. Add the label {label} to the issue, or comment `/mendbot fix`.",
    "nothing.paused": "Nothing has run here yet.",
    "status.running": "{progress} (run {run}{issues})",
    "status.queued": "⏳ Run {run}{issues} will start in a moment.",
    "status.queued.for": "⏳ Run {run}{issues} waits for {what}.",
    "status.for": " for {issues}",
    "status.waited": "It has waited for {time}.",
    "status.waiting": "⏳ This issue waits until related ones are in, then a run starts by itself.",
    "status.unshown": "Last run {run}: ⚠️ {why} {outcome}",
    "status.success": "Last run {run}: ✅ {outcome}",
    "status.failed": "Last run {run}: ❌ {why}",
    "status.cancelled": "Last run {run}: ⏹️ {why}",
    "status.paused": "⏸️ Paused by {by} when this was asked: nothing new starts until `/mendbot resume`.",
    "explain.unshown": "**⚠️ Run {run} ended with a change that nothing has shown to be a fix**",
    "explain.success": "**✅ Run {run} ended with a fix**",
    "explain.failed": "**❌ Run {run} ended without a fix**",
    "explain.cancelled": "**⏹️ Run {run} was cancelled**",
    "history": "**What is known of {path}**",
    "history.nothing": "Nothing is known about {path} yet.",
    "group.of": "**Issues that run {run} works on together**",
    "group.of.over": "**Issues that the last run, {run}, worked on together**",
    "group.alone": "#{number} is worked on alone.",
    "group.alone.over": "#{number} was worked on alone.",
    "group.waiting": "These issues wait to be grouped; runs for them start by themselves:",
    "group.none": "This issue is not being worked on. Add the label {label}, or comment `/mendbot fix`.",
    "group.how": "To have this issue worked on with another one, comment `/mendbot group add #N`; to keep it alone, "
    "`/mendbot group split`.",
    "group.apart": "To be worked on alone, as somebody asked: {issues}.",
    "group.joined": "To be worked on together, as somebody asked: {issues}.",
    "checks.of": "**Checks of {sha}:** {state}",
    "checks.running": "running",
    "checks.done": "done",
    "checks.cancelled": "cancelled",
    "checks.queued": "queued",
    "checks.in_progress": "running",
    "checks.kept": "as in run {run}",
    "checks.no_failure": "No check has failed.",
    "checks.fix": "Comment `/mendbot fix` to have what is new fixed, or `/mendbot retest` to run the checks again.",
    "checks.by_hand": "What is new is for a person to fix: push the change, and the checks run again.",
    "checks.not_yours": "None of these failures comes from this pull request. "
    "Comment `/mendbot retest` to run the checks again.",
    "checks.again": "Comment `/mendbot retest` to run the checks again.",
}
