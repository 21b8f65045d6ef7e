from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bot.errors import Stale, Transient
from bot.github.check_runs import wire_annotation
from bot.model import Annotation, CheckOutput

SHA = "b" * 40


def findings(count: int) -> tuple[Annotation, ...]:
    return tuple(
        Annotation(path="src/a.py", start_line=n, end_line=n, level="failure", message=f"m{n}")
        for n in range(1, count + 1)
    )


async def upsert(world: Any, status: str = "completed", conclusion: str | None = "failure", **more: Any) -> int:
    output = CheckOutput(title=more.pop("title", "2 failed"), summary=more.pop("summary", "S"), **more)
    client = world.github().repository(world.repo)
    return await client.upsert_check_run(
        name="mendbot / test", sha=SHA, external_id="run-1", conclusion=conclusion, status=status, output=output
    )


def writes(world: Any) -> list[str]:
    return world.lines("POST /repos") + world.lines("PATCH /repos")


async def test_a_run_goes_from_queued_to_completed_as_one(world: Any) -> None:
    ids = {await upsert(world, "queued", None), await upsert(world, "in_progress", None), await upsert(world)}
    assert len(ids) == len(world.runs) == 1
    assert (world.runs[0]["status"], world.runs[0]["conclusion"]) == ("completed", "failure")


async def test_a_thousand_annotations_go_in_four_requests(world: Any) -> None:
    await upsert(world, annotations=findings(1000))
    assert len(writes(world)) == 4
    assert [a["message"] for a in world.runs[0]["annotations"]] == [f"m{n}" for n in range(1, 201)]


async def test_a_repeat_adds_and_writes_nothing(world: Any) -> None:
    for _ in range(3):
        await upsert(world, annotations=findings(120), text="more")
    assert len(writes(world)) == 3
    assert len(world.runs[0]["annotations"]) == 120


async def test_annotations_go_on_where_the_last_attempt_stopped(world: Any) -> None:
    world.fail("PATCH .*/check-runs", 502, times=1, after_effect=True)
    with pytest.raises(Transient):
        await upsert(world, annotations=findings(170))
    await upsert(world, annotations=findings(170))
    assert [a["message"] for a in world.runs[0]["annotations"]] == [f"m{n}" for n in range(1, 171)]


async def test_an_update_without_annotations_survives_a_broken_answer(world: Any) -> None:
    await upsert(world, "queued", None)
    world.fail("PATCH .*/check-runs", 502, times=2)
    await upsert(world)
    assert world.runs[0]["status"] == "completed"


async def test_annotations_follow_a_run_that_was_queued_before(world: Any) -> None:
    await upsert(world, "queued", None)
    await upsert(world, annotations=findings(60))
    assert len(world.runs[0]["annotations"]) == 60
    assert len(writes(world)) == 3


async def test_a_run_made_behind_a_broken_answer_is_not_made_twice(world: Any) -> None:
    world.fail("POST .*/check-runs", 502, after_effect=True)
    await upsert(world, annotations=findings(70))
    assert len(world.runs) == 1
    assert len(world.runs[0]["annotations"]) == 70


async def test_another_apps_run_of_the_same_name_is_left_alone(world: Any) -> None:
    theirs = {
        "id": 1, "name": "mendbot / test", "head_sha": SHA, "external_id": "run-1", "app": {"id": 77},
        "status": "queued", "conclusion": None, "output": {"title": None, "summary": None, "annotations_count": 0},
        "annotations": [],
    }  # fmt: skip
    world.runs.append(dict(theirs))
    await upsert(world)
    assert world.runs[0] == theirs
    assert len(world.runs) == 2


async def test_many_at_once_make_one_run(world: Any) -> None:
    github = world.github()

    await asyncio.gather(
        *(
            github.repository(world.repo).upsert_check_run(
                name="mendbot / fix", sha=SHA, external_id="r", conclusion="success", status="completed",
                output=CheckOutput(title="ok", summary="ok", annotations=findings(60)),
            )
            for _ in range(10)
        )
    )  # fmt: skip
    assert len(world.runs) == 1
    assert len(world.runs[0]["annotations"]) == 60


@pytest.mark.parametrize(
    ("status", "conclusion"),
    [("completed", None), ("queued", "success"), ("done", None), ("completed", "stale"), ("completed", "failed")],
)
async def test_states_that_github_does_not_have_are_our_mistake(
    world: Any, status: str, conclusion: str | None
) -> None:
    with pytest.raises(ValueError, match="check run"):
        await upsert(world, status, conclusion)
    assert not world.seen


async def test_texts_are_measured_in_bytes(world: Any) -> None:
    await upsert(world, summary="😀" * 16_383)
    for part in ({"summary": "😀" * 16_384}, {"text": "é" * 32_768}):
        with pytest.raises(ValueError, match="bytes"):
            await upsert(world, **part)


async def test_a_commit_that_is_gone_is_stale(world: Any) -> None:
    world.fail("POST .*/check-runs", 422, {"message": f"No commit found for SHA: {SHA}"})
    with pytest.raises(Stale):
        await upsert(world)


async def test_annotations_are_clamped_and_those_outside_the_tree_dropped(world: Any) -> None:
    def at(path: str, start: int = 1, end: int = 1) -> Annotation:
        return Annotation(path=path, start_line=start, end_line=end, level="warning", message="m")

    odd = (at("/etc/passwd"), at("../x"), at("a/../../x"), at(""), at("./ok.py", 0, -3), at("b.py", 9, 3))
    await upsert(world, annotations=odd)
    sent = [(a["path"], a["start_line"], a["end_line"]) for a in world.runs[0]["annotations"]]
    assert sent == [("ok.py", 1, 1), ("b.py", 9, 9)]


def test_annotation_texts_keep_their_limits() -> None:
    long = Annotation(
        path="a", start_line=1, end_line=1, level="notice", message="😀" * 30_000, title="t" * 400, rule="E1"
    )
    wire = wire_annotation(long)
    assert len(wire["message"].encode()) <= 64_000
    assert len(wire["title"]) == 255
    bare = wire_annotation(Annotation(path="a", start_line=1, end_line=1, level="notice", message="", rule="E1"))
    assert (bare["message"], bare["title"]) == ("notice", "E1")
