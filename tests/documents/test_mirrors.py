"""A module with public functions is tested by the file of its name: `bot/rules/stop/limits.py` by
`tests/rules/stop/test_limits.py`. The exceptions are tested through the module that uses them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTED_BY: dict[str, tuple[str, ...]] = {
    "agent/test_replay.py": ("rules/patches/document_files",),
    "app/test_relay.py": ("cli/relay",),
    "app/test_doctor.py": ("app/diagnoses",),
    "app/test_server.py": ("web/worktrees",),
    "cli/test_history.py": ("app/known_secrets", "store/history/standalone"),
    "workflows/installations/test_asked_first.py": ("workflows/pulls/open_pulls",),
    "cli/test_cli.py": (
        "cli/serve",
        "__main__",
        "cli/fix",
    ),
    "cli/test_replay.py": ("app/replay",),
    "cli/test_config.py": ("repo_config/json_schema",),
    "cli/test_check.py": (
        "cli/directories",
        "workspace/checks/check_tree",
        "reports/terminal/checks",
        "workspace/detect/local_policy",
    ),
    "e2e/test_groups.py": ("workflows/runs/request",),
    "e2e/test_leftovers.py": ("workspace/git/repo_lock",),
    "e2e/test_main_job.py": ("app/build",),
    "e2e/test_sessions_library.py": (
        "app/local_session",
        "app/summary",
        "workflows/runs/begin_local",
        "workflows/runs/local_tree",
    ),
    "github/test_auth.py": ("github/clock",),
    "github/test_client.py": ("github/api",),
    "mcp/test_server.py": ("mcp/tools",),
    "mcp/test_stdio.py": ("app/mcp_server", "cli/mcp"),
    "model/events/test_runs.py": ("store/runs/rows",),
    "proc/test_proc.py": (
        "proc/bounds",
        "proc/memory",
    ),
    "repo_config/test_parse.py": (
        "config",
        "repo_config/agents",
        "repo_config/describe",
        "repo_config/document",
    ),
    "reports/commands/test_answers.py": ("reports/commands/pull_answers",),
    "reports/runs/test_failures.py": (
        "reports/runs/check_output",
        "reports/runs/outcome",
    ),
    "reports/runs/test_issue_comment.py": (
        "reports/runs/attempts",
        "reports/runs/diff",
        "reports/runs/existing_failures",
        "reports/runs/group",
        "reports/runs/setup_lines",
    ),
    "reports/runs/test_missing_setup.py": ("reports/runs/validation",),
    "reports/test_messages.py": ("reports/runs/pull_request",),
    "rules/commands/test_parser.py": (
        "rules/commands/__init__",
        "rules/commands/markdown_lines",
        "rules/commands/verbs",
    ),
    "rules/commands/test_parser_property.py": ("rules/commands/tokens",),
    "rules/excerpts/test_excerpts.py": (
        "rules/excerpts/error_lines",
        "rules/excerpts/expected_received",
        "rules/excerpts/installer_errors",
    ),
    "rules/failures/test_annotations.py": (
        "rules/failures/findings",
        "rules/failures/log_lines",
        "rules/failures/problem_matchers",
        "rules/failures/stack_frames",
    ),
    "rules/failures/test_errors.py": ("rules/failures/junit_in_logs",),
    "rules/grouping/test_similarity.py": ("rules/grouping/references",),
    "rules/patches/test_fuzzy_apply.py": (
        "rules/patches/hunk_lines",
        "rules/patches/hunk_placement",
        "rules/patches/indentation",
    ),
    "rules/runs/test_next_action.py": (
        "rules/runs/existing_failures",
        "rules/runs/fold",
        "rules/runs/validation_outcome",
    ),
    "rules/runs/test_state.py": ("rules/runs/changes",),
    "rules/tampering/test_read_tree.py": (
        "rules/tampering/languages",
        "rules/tampering/node_text",
        "rules/tampering/read_text",
    ),
    "rules/tampering/test_source.py": ("rules/tampering/test_source",),
    "rules/tampering/test_weakened_tests.py": (
        "rules/tampering/check_config",
        "rules/tampering/forced_passes",
        "rules/tampering/ignored_findings",
        "rules/tampering/lost_assertions",
        "rules/tampering/lost_cases",
    ),
    "rules/test_reasons.py": ("model/reasons",),
    "rules/test_rejection_reasons.py": ("reports/locale/reasons",),
    "rules/stop/test_limits.py": ("rules/stop/__init__",),
    "rules/grouping/test_groups.py": ("rules/grouping/__init__",),
    "rules/test_results/test_comparison.py": (
        "rules/test_results/listed_tests",
        "rules/test_results/printed_tests",
        "rules/test_results/suite_result",
    ),
    "rules/test_runners/test_failed_tests.py": (
        "rules/test_runners/go",
        "rules/test_runners/javascript",
        "rules/test_runners/numbered",
        "rules/test_runners/python",
        "rules/test_runners/rust",
        "rules/test_runners/sections",
        "rules/test_runners/tap",
    ),
    "rules/triage/test_decide.py": (
        "rules/triage/decisions",
        "rules/triage/regained_access",
    ),
    "workflows/dashboard/test_publish.py": (
        "workflows/dashboard/boxes",
        "workflows/dashboard/view",
    ),
    "store/database/test_database.py": ("store/migrations/versions/v0011_first",),
    "store/history/test_visibility.py": ("store/database/open",),
    "test_http.py": ("errors",),
    "web/pages/test_history_page.py": ("app/record_pages",),
    "web/pages/test_setup_page.py": ("app/created_on_page",),
    "web/pages/test_site.py": ("app/pages",),
    "web/test_history.py": ("web/server",),
    "workflows/commands/test_accept.py": ("workflows/commands/types",),
    "workflows/commands/test_crash.py": ("workflows/commands/idempotency",),
    "workflows/commands/test_state.py": (
        "workflows/commands/verbs/approve",
        "workflows/commands/verbs/group",
        "workflows/commands/verbs/pause",
        "workflows/commands/verbs/resume",
    ),
    "workflows/commands/test_verbs.py": (
        "workflows/commands/eligibility",
        "workflows/commands/verbs/apply",
        "workflows/commands/verbs/cancel",
        "workflows/commands/verbs/check",
        "workflows/commands/execute",
        "workflows/commands/verbs/explain",
        "workflows/commands/verbs/fix",
        "workflows/commands/verbs/help",
        "workflows/commands/verbs/history",
        "workflows/commands/verbs/resolved",
        "workflows/commands/verbs/retest",
        "workflows/commands/verbs/retry",
        "workflows/commands/verbs/status",
        "workflows/commands/thread_state",
    ),
    "workflows/deliveries/test_process_deliveries.py": (
        "workflows/deliveries/dispatch",
        "workflows/deliveries/gather_facts",
    ),
    "workflows/history/test_learn_from_runs.py": ("workflows/runs/abandoned",),
    "workflows/maintenance/test_retention.py": (
        "workflows/maintenance/cleanup",
        "workspace/checks/logs",
    ),
    "rules/pulls/test_check_runs.py": ("rules/pulls/check_execution",),
    "reports/pulls/test_check_output.py": ("reports/pulls/evidence",),
    "workflows/pulls/test_run_checks.py": ("workflows/pulls/execute", "workflows/pulls/measure_reach"),
    "workflows/pulls/test_forks.py": ("workflows/pulls/await_approval",),
    "workflows/pulls/test_reruns.py": ("workflows/pulls/buttons",),
    "workflows/pulls/test_start_fix.py": ("workflows/pushes/push",),
    "workflows/pulls/test_sync.py": ("workflows/pulls/start_stop",),
    "workflows/pulls/test_verdicts.py": (
        "workflows/pulls/checkouts",
        "workflows/pulls/loop",
        "workflows/pulls/publish_checks",
        "workflows/pulls/record_verdict",
    ),
    "workflows/reporting/test_publish_run.py": ("workflows/reporting/publish_fix",),
    "workflows/reporting/test_held_reports.py": ("workflows/reporting/publisher",),
    "workflows/runs/test_begin.py": (
        "workflows/context",
        "workflows/git_transfer",
    ),
    "workflows/runs/test_finish.py": (
        "workflows/runs/plan",
        "workflows/runs/validate",
    ),
    "workflows/runs/test_package.py": (
        "workflows/agents/ask_agents",
        "workflows/agents/usage",
        "workflows/runs/implement",
    ),
    "workflows/runs/test_prove_tricks.py": ("workflows/runs/changed_tests",),
    "workflows/runs/test_prove.py": ("workflows/runs/run_stage",),
    "workflows/runs/test_setup.py": ("workflows/checks/setup",),
    "workspace/checks/test_named_tests.py": ("workspace/checks/listener/mendbot_test_names",),
    "workspace/checks/test_run_checks.py": ("workspace/checks/restore_files",),
    "workspace/detect/test_detect.py": (
        "workspace/detect/command_finders",
        "workspace/detect/package_managers",
        "workspace/detect/python_finders",
        "workspace/detect/target_finders",
        "workspace/files/project_files",
    ),
    "workspace/git/test_diff.py": ("workspace/git/objects",),
    "workspace/git/test_tree.py": (
        "workspace/files/setup_products",
        "workspace/git/index",
    ),
    "workspace/sandbox/test_check_tools.py": ("workspace/sandbox/package_registry",),
    "workspace/sandbox/test_network_filter.py": ("workspace/sandbox/forwarder",),
    "workspace/sandbox/test_sandbox.py": (
        "workspace/sandbox/bubblewrap",
        "workspace/sandbox/disk_home",
    ),
    "workspace/setup/test_hostile.py": ("rules/setup/requirement_files",),
    "workspace/setup/test_missing_setup.py": ("workspace/setup/python_needs",),
    "workspace/setup/test_node_plan.py": (
        "rules/setup/node_commands",
        "rules/setup/setup_remedy",
        "workspace/setup/install",
        "workspace/setup/node_build",
        "workspace/setup/plan",
    ),
    "workspace/setup/test_python_plan.py": (
        "rules/setup/python_dependencies",
        "rules/setup/python_commands",
        "rules/setup/python_test_installs",
        "workspace/setup/python_project",
    ),
    "workspace/test_deep_trees.py": ("workspace/files/tree_digest",),
    "workspace/worktree/test_registry.py": ("workspace/worktree/orphan_processes",),
    "workspace/worktree/test_run_worktree.py": ("workspace/git/branch_names",),
}
"""Test files, and the modules without a test file of their own that they test through a module that calls those."""


def functional() -> Iterator[Path]:
    """The modules with a public function, as paths below `bot`."""
    for path in sorted((ROOT / "bot").rglob("*.py")):
        found = [
            node
            for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        if any(not function.name.startswith("_") for function in found):
            yield path.relative_to(ROOT / "bot")


def mirror(module: Path) -> Path:
    name = module.parent.name if module.name == "__init__.py" else module.stem
    return ROOT / "tests" / module.parent / f"test_{name}.py"


def test_each_module_has_its_test_file_or_is_listed_with_the_one_that_tests_it() -> None:
    without = {module.with_suffix("").as_posix() for module in functional() if not mirror(module).is_file()}
    listed = [module for modules in TESTED_BY.values() for module in modules]
    assert without - set(listed) == set(), "write the test file, or list the one that tests the module"
    assert set(listed) - without == set(), "these have a test file by now, or are no modules with functions"
    assert len(listed) == len(set(listed))


def test_the_files_that_are_listed_exist() -> None:
    assert [name for name in TESTED_BY if not (ROOT / "tests" / name).is_file()] == []
