"""What answers to commands say of their own accord, in English; a part of `reports.locale.en`."""

from __future__ import annotations

from collections.abc import Mapping

ANSWERS_ENGLISH: Mapping[str, str] = {
    "nothing": "Nothing has run here yet. Add the label {label} to the issue, or comment `/mendbot fix`.",
    "nothing.paused": "Nothing has run here yet.",
    "status.running": "{progress} (run {run}{issues})",
    "status.queued": "⏳ Run {run}{issues} starts in a moment.",
    "status.queued.for": "⏳ Run {run}{issues}: {what}",
    "status.for": " for {issues}",
    "status.waited": "Waiting for {time} so far.",
    "status.waiting": "⏳ This issue waits for related ones to be labelled. A run then starts automatically.",
    "status.unshown": "Last run {run}: ⚠️ {why} {outcome}",
    "status.success": "Last run {run}: ✅ {outcome}",
    "status.failed": "Last run {run}: ❌ {why}",
    "status.cancelled": "Last run {run}: ⏹️ {why}",
    "status.paused": "⏸️ Paused by {by}: nothing new starts until somebody comments `/mendbot resume`.",
    "explain.unshown": "**⚠️ Run {run} ended with a change that no check has shown to be a fix**",
    "explain.success": "**✅ Run {run} ended with a fix**",
    "explain.failed": "**❌ Run {run} ended without a fix**",
    "explain.cancelled": "**⏹️ Run {run} was cancelled**",
    "history": "**Error history of {path}**",
    "history.nothing": "The error history has no entry for {path}.",
    "group.of": "**Issues in run {run}**",
    "group.of.over": "**Issues in the last run, {run}**",
    "group.alone": "#{number} is in a group of its own.",
    "group.alone.over": "#{number} was in a group of its own.",
    "group.waiting": "These issues wait to be grouped. Their runs then start automatically:",
    "group.none": "No run works on this issue. Add the label {label}, or comment `/mendbot fix`.",
    "group.how": "To group this issue with another one, comment `/mendbot group add #N`. To keep it alone, "
    "comment `/mendbot group split`.",
    "group.apart": "Kept alone, as a comment asked: {issues}.",
    "group.joined": "Grouped, as a comment asked: {issues}.",
    "checks.of": "**Checks of {sha}:** {state}",
    "checks.running": "running",
    "checks.done": "done",
    "checks.cancelled": "cancelled",
    "checks.queued": "queued",
    "checks.in_progress": "running",
    "checks.kept": "reused from run {run}",
    "checks.no_failure": "No check has failed.",
    "checks.fix": "To have the new failures fixed, comment `/mendbot fix`. To re-run the checks, comment "
    "`/mendbot retest`.",
    "checks.by_hand": "Fix the new failures yourself and push. The push starts the checks.",
    "checks.not_yours": "No failure comes from this pull request. To re-run the checks, comment `/mendbot retest`.",
    "checks.again": "To re-run the checks, comment `/mendbot retest`.",
}
