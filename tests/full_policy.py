"""A repository's configuration that sets every key."""

from __future__ import annotations

FULL = """\
trigger_label: mend
skip_label: hands-off
group_by: file
max_group_size: 2
quiet_seconds: 0.5
max_worktrees: 1
base_branch: release/1.0
setup: [npm, ci]
checks:
  typecheck: { command: mypy, timeout: 30 }
  lint: &lint { command: [ruff, check], timeout: 9 }
  test:
    <<: *lint
    command: make test
    report: out/junit.xml
fixers: [ruff format ., [ruff, check, --fix]]
agents: [fixers, history, command, "command:agent --fast 'a b'"]
max_attempts: 4
candidates: 3
stop: { max_iterations: 5, max_duration_ms: 60000, no_progress_threshold: 2 }
require_proof: covered
protected_paths: [/migrations, "!uv.lock"]
aliases: { /fix: fix, /go-on: resume }
language: ko
guidance_trial: false
dashboard: true
pull_requests: { enabled: false, drafts: true, paths: [src/**, "!*.md"] }
"""
