"""What the commands for a tree on this machine say in English; `reports.terminal.checks` makes their lines of it."""

from __future__ import annotations

from collections.abc import Mapping

LOCAL_ENGLISH: Mapping[str, str] = {
    "local.begins": "{check}: running {command}",
    "local.begins.again": "{check}: running {command} again (attempt {attempt})",
    "local.ended": "{check}: {verdict} in {time}",
    "local.passed": "passed",
    "local.failed": "failed",
    "local.timed_out": "timed out",
    "local.unable": "could not run",
    "local.result": "{mark} {check}: {how}",
    "local.ran": "{command} in {time}",
    "local.flaky": "(flaky: it failed before on the same tree)",
    "local.did_not_run": "did not run",
    "local.not_run": "not run (fail-fast)",
    "local.sum": "{counts} in {time}",
    "local.sum.passed": "{count} passed",
    "local.sum.failed": "{count} failed",
    "local.sum.unable": "{count} could not run",
    "local.sum.not_run": "{count} not run (fail-fast)",
    "local.restored": "{check} changed {paths}, which Mendbot restored",
    "local.found_in": "what it wrote is in {place}: copy back what you need, then delete that directory",
    "local.not_restored": "{check} changed {paths}, too large to be restored: compare with your last commit",
    "session.fixed": "fixed in attempt {attempt} of {most}: the checks pass",
    "session.unshown": "the checks pass; nothing showed the fault before the change",
    "session.failed": "not fixed in {attempt} of {most} attempts; the tree is as it was",
    "session.failed.none": "not fixed; the tree is as it was",
    "session.cancelled": "cancelled in attempt {attempt} of {most}; the tree is as it was",
    "session.cancelled.none": "cancelled; the tree is as it was",
    "session.stopped": "stopped by {reason}: {details}",
    "session.changed": "changed: {files}",
    "session.before": "before: {checks}",
    "session.before.none": "before: the checks did not run",
    "session.after": "after: {checks}",
    "session.after.none": "after: the checks did not run",
    "session.diff": "diff: {path}",
    "session.tried": "what was tried: {path}",
    "session.best": "attempt {attempt} came further: {path}",
    "session.logs": "logs: {path}",
}
