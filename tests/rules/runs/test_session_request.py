"""What a session may be asked: every field is judged, every problem names its field and says how to fix it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model import Phase, Problem, Proof, PullRequestRef, Repo, SessionRequest, Status
from bot.model.proof import ProofLevel
from bot.model.reasons import ExplainedStop
from bot.reports.locale.reasons import english, error_text
from bot.rules.reasons import quoted
from bot.rules.runs.session_request import InvalidRequest, parse_request, session_for
from bot.rules.runs.spec import RunSpec
from bot.rules.runs.state import RunState

GOOD: dict[str, Any] = {"repo": "/srv/pocket", "task": "mend it", "testCommand": "npm test"}
WIRE = ("repo", "task", "filePaths", "testCommand", "validationCommands", "maxAttempts", "agents")


def accepted(**more: Any) -> SessionRequest:
    found = parse_request({**GOOD, **more})
    assert isinstance(found, SessionRequest), found
    return found


def problems(data: object) -> tuple[Problem, ...]:
    found = parse_request(data)
    assert not isinstance(found, SessionRequest), found
    return found


def problem(**more: Any) -> Problem:
    """The only one."""
    (found,) = problems({**GOOD, **more})
    return found


def test_a_session_needs_a_repository_a_task_and_one_way_to_check_it() -> None:
    """REQ-RUN-001: the input, and its default."""
    assert accepted() == SessionRequest(repo="/srv/pocket", task="mend it", test_command="npm test", max_attempts=3)
    only_list = parse_request({"repo": "octo/pocket", "task": "t", "validationCommands": ["a", ["b", "c d"]]})
    assert only_list == SessionRequest(repo="octo/pocket", task="t", validation_commands=("a", ("b", "c d")))


def test_camel_case_and_snake_case_say_the_same() -> None:
    """REQ-RUN-001: camelCase on the wire; snake_case is accepted too."""
    values: dict[str, Any] = {"filePaths": ["a.py"], "testCommand": "t", "validationCommands": ["v"], "maxAttempts": 5}
    snakes = {"file_paths": ["a.py"], "test_command": "t", "validation_commands": ["v"], "max_attempts": 5}
    base = {"repo": "/r", "task": "t"}
    assert (
        parse_request({**base, **values})
        == parse_request({**base, **snakes})
        == parse_request({**base, **snakes, **values})
    )
    assert isinstance(parse_request({**base, **snakes}), SessionRequest)


@pytest.mark.parametrize(("one", "other"), [(2, 3), (1, True), (1, 1.0), (3, None)])
def test_one_field_in_two_spellings_must_say_one_thing(one: object, other: object) -> None:
    both = problem(maxAttempts=one, max_attempts=other)
    assert both.field == "maxAttempts"
    assert "`max_attempts`" in english(both.reason)


@pytest.mark.parametrize(
    "commands",
    [{}, {"testCommand": ""}, {"testCommand": " \n"}, {"testCommand": []}, {"validationCommands": []},
     {"testCommand": None, "validationCommands": None},
     {"validationCommands": ["", " ", []]}, {"validationCommands": "\n \n"},
     {"test_command": "", "validation_commands": []}],
)  # fmt: skip
def test_without_a_command_it_is_said_that_one_of_the_two_is_required(commands: dict[str, Any]) -> None:
    """REQ-RUN-001: one of `testCommand` / `validationCommands` is required."""
    (found,) = problems({"repo": "/r", "task": "t", **commands})
    assert found.field == "testCommand"
    assert "`testCommand` or `validationCommands`" in english(found.reason)
    assert "required" in english(found.reason)


def test_blank_commands_do_not_count_and_a_text_is_one_command_a_line() -> None:
    assert accepted(validationCommands=["", "a", "  "]).validation_commands == ("a",)
    assert accepted(validationCommands="npm run lint\r\n\n npm test \n").validation_commands == (
        "npm run lint",
        "npm test",
    )
    assert accepted(testCommand=["node", "", "a b"]).test_command == ("node", "", "a b")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("repo", None), ("repo", ""), ("repo", " "), ("repo", 5), ("repo", []), ("repo", "pocket"), ("repo", "./a"),
        ("repo", "a/b/c"), ("repo", "octo/.."), ("repo", "-o/b"), ("repo", "https://github.com/octo/pocket"),
        ("repo", "/a\0b"), ("repo", "/" + "a" * 30_000), ("repo", "octo/pocket\n"),
        ("task", None), ("task", ""), ("task", " \n\t"), ("task", 1), ("task", ["t"]), ("task", "t" * 65_537),
        ("task", "a\0"), ("task", "\ud800"),
        ("filePaths", "a.py"), ("filePaths", {}), ("filePaths", [1]), ("filePaths", [None]), ("filePaths", [""]),
        ("filePaths", ["/etc/passwd"]), ("filePaths", ["a/../../b"]), ("filePaths", [".."]), ("filePaths", ["a/.."]),
        ("filePaths", ["a\0b"]), ("filePaths", ["C:\\a"]), ("filePaths", ["\\\\host\\a"]), ("filePaths", ["..\\a"]),
        ("filePaths", ["."]), ("filePaths", ["./"]), ("filePaths", ["a"] * 1001),
        ("testCommand", 5), ("testCommand", True), ("testCommand", {}), ("testCommand", [1]), ("testCommand", [""]),
        ("testCommand", "a\0b"), ("testCommand", ["a", "b\0"]), ("testCommand", ["a", None]),
        ("testCommand", "a" * 30_001), ("validationCommands", 5), ("validationCommands", {}),
        ("validationCommands", [5]), ("validationCommands", [None]),
        ("validationCommands", [["a", 5]]), ("validationCommands", [[" "]]), ("validationCommands", ["a"] * 101),
        ("validationCommands", "a\n" * 101), ("validationCommands", ["a\0"]),
        ("maxAttempts", 0), ("maxAttempts", -1), ("maxAttempts", 101), ("maxAttempts", 10**4000), ("maxAttempts", True),
        ("maxAttempts", False), ("maxAttempts", 3.0), ("maxAttempts", "3"), ("maxAttempts", []),
        ("agents", "fixers"), ("agents", [""]), ("agents", [5]), ("agents", ["fixers"] * 21), ("agents", {}),
    ],
)  # fmt: skip
def test_a_wrong_value_is_one_problem_of_its_field(field: str, value: object) -> None:
    found = problem(**{field: value})
    assert found.field == field
    assert len(english(found.reason)) < 400
    found.model_dump_json()


@pytest.mark.parametrize(
    ("field", "value"),
    [("task", "t" * 65_536), ("filePaths", [f"a{n}" for n in range(1000)]), ("maxAttempts", 1), ("maxAttempts", 100),
     ("agents", ["fixers"] * 20), ("validationCommands", ["a"] * 100), ("repo", "Octo_x/.github"), ("repo", "/")],
)  # fmt: skip
def test_the_limits_themselves_are_allowed(field: str, value: object) -> None:
    accepted(**{field: value})


def test_paths_are_made_plain_and_named_once() -> None:
    assert accepted(filePaths=["./src//a b.ts", "src/a b.ts", "..a/b..c", "src/"]).file_paths == (
        "src/a b.ts", "..a/b..c", "src",
    )  # fmt: skip


def test_optional_fields_may_be_null() -> None:
    nothing = dict.fromkeys(("filePaths", "validationCommands", "maxAttempts", "agents"))
    assert accepted(**nothing) == accepted()


@pytest.mark.parametrize(
    ("key", "near"),
    [("filePath", "filePaths"), ("testcommand", "testCommand"), ("max_atempts", "maxAttempts"),
     ("validation_command", "validationCommands"), ("Task", "task")],
)  # fmt: skip
def test_an_unknown_field_is_named_with_the_nearest(key: str, near: str) -> None:
    found = problem(**{key: "x"})
    assert found.field == key
    assert f"did you mean `{near}`?" in english(found.reason)


def test_a_field_like_none_is_answered_with_all_there_are() -> None:
    found = problem(zzzz=1)
    assert all(f"`{name}`" in english(found.reason) for name in WIRE)


def test_thousands_of_unknown_fields_are_told_shortly() -> None:
    many = problems({**GOOD, **{f"k{n}" * 50: n for n in range(20_000)}})
    assert len(many) == 21
    assert "19980 more" in english(many[-1].reason)
    assert all(len(item.field) <= 80 for item in many)


@pytest.mark.parametrize("data", [None, [], "x", 5, True, [GOOD]])
def test_what_is_no_object_is_told_what_it_should_be(data: object) -> None:
    (found,) = problems(data)
    assert found.field == "body"


def test_every_problem_is_told_at_once() -> None:
    found = problems({"repo": 1, "maxAttempts": 0, "agents": 1, "nope": 1})
    assert {item.field for item in found} == {"repo", "task", "maxAttempts", "agents", "nope", "testCommand"}
    assert "maxAttempts: must be a whole number" in error_text(InvalidRequest(found), "en")


def test_unknown_agents_are_told_with_everything_else() -> None:
    """REQ-RUN-001."""
    found = {
        item.field: english(item.reason)
        for item in problems({"repo": "/r", "task": "t", "agents": ["gpt", "x", "gpt"]})
    }
    assert set(found) == {"agents", "testCommand"}
    assert found["agents"].count("unknown agent") == 2 and "`gpt`" in found["agents"] and "`x`" in found["agents"]
    assert "did you mean `claude`?" in english(problem(agents=["calude"]).reason)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from((*WIRE, "file_paths", "test_command", "x\ud800")), json_values))
def test_whatever_is_asked_is_a_request_or_problems(data: dict[str, Any]) -> None:
    found = parse_request(data)
    if isinstance(found, SessionRequest):
        assert found.test_command or found.validation_commands
        again = parse_request(found.model_dump(mode="json", by_alias=True))
        assert again == found
    else:
        assert found
        for item in found:
            item.model_dump_json()


CREATED = datetime(2026, 11, 21, tzinfo=UTC)
SPEC = RunSpec(
    repo=Repo(owner="octo", name="pocket", installation_id=1),
    issues=(),
    key="k",
    suggested_branch="fix/issue-7",
    base_branch="main",
    agents=("fixers",),
)


def test_a_session_names_every_phase_and_the_latest_artifacts() -> None:
    """REQ-RUN-006: the session shows the latest validation's id."""
    state = RunState(
        attempt=2,
        phases={Phase.PLANNING: "completed", Phase.VALIDATION: "running"},
        artifact_refs={Phase.VALIDATION: "r.validation.2"},
        pull=PullRequestRef(number=5, url="https://example.test/pull/5"),
        branch="fix/issue-7",
    )
    found = session_for("r", SPEC, Status.RUNNING, state, created_at=CREATED)
    assert list(found.phases) == [phase for phase in Phase if phase is not Phase.REPRODUCTION]
    assert found.phases[Phase.PLANNING] == "completed"
    assert found.phases[Phase.REVIEW] == "pending"
    assert found.artifact_refs == {Phase.VALIDATION: "r.validation.2"}
    assert (found.iteration, found.max_attempts, found.repo) == (2, 3, "octo/pocket")
    assert found.pull_request == "https://example.test/pull/5"


def test_reproduction_is_a_phase_only_of_a_session_that_asked_for_a_failing_test() -> None:
    """REQ-PROOF-001."""
    state = RunState(phases={Phase.REPRODUCTION: "failed"})
    found = session_for("r", SPEC, Status.RUNNING, state, created_at=CREATED)
    assert list(found.phases) == list(Phase) and found.phases[Phase.REPRODUCTION] == "failed"


@pytest.mark.parametrize("level", get_args(ProofLevel))
def test_a_session_has_the_level_of_its_change_and_the_evidence(level: ProofLevel) -> None:
    """REQ-PROOF-001: `shown` is true for a proven change alone."""
    proof = Proof(level=level, because="mutants", before="green")
    found = session_for("r", SPEC, Status.SUCCESS, RunState(proof=proof), created_at=CREATED)
    assert (found.proof, found.evidence, found.shown) == (level, proof, level == "proven")
    failed = session_for("r", SPEC, Status.FAILED, RunState(), created_at=CREATED)
    assert (failed.proof, failed.evidence, failed.shown) == (None, None, None)


def test_in_an_ended_session_nothing_is_pending_or_running() -> None:
    state = RunState(
        phases={Phase.PLANNING: "completed", Phase.DESIGN: "failed", Phase.IMPLEMENTATION: "running"},
        stop=ExplainedStop.of("cancelled", quoted("asked to stop")),
        ended_at=CREATED,
    )
    found = session_for("r", SPEC, Status.CANCELLED, state, created_at=CREATED)
    assert found.phases == {
        Phase.PLANNING: "completed", Phase.ARCHITECTURE: "skipped", Phase.DESIGN: "failed",
        Phase.IMPLEMENTATION: "failed", Phase.VALIDATION: "skipped", Phase.REVIEW: "skipped",
        Phase.PACKAGING: "skipped",
    }  # fmt: skip
    assert found.ended_at == CREATED
