"""The phases, attempts and checks of a run as bars on a time axis, drawn to scale (REQ-RUN-009)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.model import Language, Phase
from bot.model.events.phases import PhaseEvent, PhaseSkipped
from bot.model.events.pull_checks import (
    PullBaseChecked,
    PullCheckEvent,
    PullCheckRan,
    PullReachMeasured,
    PullSetupCompleted,
    PullSetupFailed,
    PullTestsRan,
)
from bot.model.events.run_event import CandidateEvent, RunEvent
from bot.model.events.runs import CheckEnded, CheckStarted, SetupEnded, SetupStarted
from bot.model.events.tournament import CandidatesWanted
from bot.reports.locale.catalog import duration, t

WIDTH, LABELS, ROW, TOP = 960, 200, 24, 26
MAX_ROWS = 60
TICKS = 5
_MIN_WIDTH = 3.0
_PAD = 8
_LABEL_CHARS = 30
_STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400)


@dataclass(frozen=True, slots=True)
class Span:
    """Something that took time. `state` is `completed`, `failed`, `refused` or `running`."""

    row: str
    start: datetime
    end: datetime
    state: str
    what: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A span in the picture."""

    x: float
    width: float
    state: str
    text: str


@dataclass(frozen=True, slots=True)
class Lane:
    """A row of the picture, with its bars."""

    label: str
    y: int
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Tick:
    x: float
    label: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """The picture: sizes in pixels of its own coordinates."""

    width: int
    height: int
    lanes: tuple[Lane, ...]
    ticks: tuple[Tick, ...]
    left_out: int = 0


def draw(spans: Sequence[Span], language: Language) -> Timeline | None:
    """Returns the picture of the spans: a row for each name, the last 60 of them; None without a span."""
    rows = list(dict.fromkeys(span.row for span in spans))
    shown = rows[-MAX_ROWS:]
    visible = [span for span in spans if span.row in set(shown)]
    if not visible:
        return None
    first, last = min(span.start for span in visible), max(span.end for span in visible)
    total_s = max((last - first).total_seconds(), 0.1)
    scale = (WIDTH - LABELS - _PAD) / total_s
    lanes = []
    for number, row in enumerate(shown):
        own = [span for span in visible if span.row == row]
        bars = tuple(_bar(span, first, scale, language) for span in own)
        lanes.append(Lane(row if len(row) <= _LABEL_CHARS else row[: _LABEL_CHARS - 1] + "…", TOP + number * ROW, bars))
    ticks = tuple(Tick(LABELS + at * scale, duration(language, at * 1000)) for at in _ticks(total_s))
    return Timeline(WIDTH, TOP + len(shown) * ROW + 4, tuple(lanes), ticks, len(rows) - len(shown))


def _bar(span: Span, first: datetime, scale: float, language: Language) -> Bar:
    took_s = max((span.end - span.start).total_seconds(), 0.0)
    x = LABELS + (span.start - first).total_seconds() * scale
    width = max(took_s * scale, _MIN_WIDTH)
    x = min(x, WIDTH - _PAD - width)
    return Bar(round(x, 1), round(width, 1), span.state, f"{span.what}: {duration(language, int(took_s * 1000))}")


def _ticks(total_s: float) -> Sequence[int]:
    step = next((step for step in _STEPS_S if total_s / step <= TICKS), 7 * 86_400)
    return range(0, int(total_s) + 1, step)


def fix_spans(events: Iterable[RunEvent], now: datetime, language: Language) -> list[Span]:
    """The spans of a fix run: its setup, its phases, and the checks of each validation. What has no end goes on."""
    spans: dict[str, Span] = {}
    last, compared = None, set[int]()  # the attempts whose checks are shown as those of their candidates
    for event in events:
        last = event.ts
        match event:
            case SetupStarted():
                name = t(language, "pages.timeline.setup")
                spans["setup"] = Span(name, event.ts, now, "running", event.command or name)
            case SetupEnded():
                _end(spans, "setup", event.ts, "failed" if event.type == "setup_failed" else "completed")
            case CandidatesWanted():
                compared.add(event.iteration)
            case CandidateEvent():
                at = {"attempt": event.iteration, "candidate": event.candidate}
                row = t(language, "pages.timeline.candidate", **at)
                _check(spans, event.event, Span(row, event.ts, now, "running", ""), language, f":{event.candidate}")
            case CheckStarted() | CheckEnded() if event.iteration not in compared:
                row = _attempt_row(Phase.VALIDATION, event.iteration, language)
                _check(spans, event, Span(row, event.ts, now, "running", ""), language)
            case PhaseSkipped():
                pass
            case PhaseEvent() if event.phase is not Phase.VALIDATION:
                key = f"{event.phase}:{event.iteration}"
                if event.status == "running":
                    row = _attempt_row(event.phase, event.iteration, language)
                    spans[key] = Span(row, event.ts, now, "running", _phase(event.phase, language))
                else:
                    _end(spans, key, event.ts, event.status)
    return list(spans.values()) if last is not None else []


def _check(spans: dict[str, Span], event: RunEvent, span: Span, language: Language, suffix: str = "") -> None:
    """Begin or end the span of a check; `span` begins and ends at the event, and lacks the check's name."""
    if isinstance(event, CheckStarted):
        spans[event.key + suffix] = Span(span.row, span.start, span.end, span.state, event.stage)
    elif isinstance(event, CheckEnded):
        start = f"command:{event.iteration}:{event.index}{suffix}"
        if event.refused is not None and start in spans:
            refused = f"{spans[start].what} ({t(language, 'pages.check.refused')})"
            spans[start] = replace(spans[start], what=refused)
        state = "refused" if event.refused is not None else "completed" if event.step.passed else "failed"
        _end(spans, start, span.start, state)


def pull_spans(events: Iterable[PullCheckEvent], now: datetime, language: Language, *, live: bool) -> list[Span]:
    """The spans of a pull check: from each event to the next, in the row of its check; the last goes on if `live`."""
    spans: list[Span] = []
    names: dict[int, str] = {}
    before: datetime | None = None
    for event in events:
        row, what, state = "", "", "completed"
        match event:
            case PullSetupCompleted() | PullSetupFailed():
                row = what = t(language, "pages.timeline.setup")
                state = "failed" if isinstance(event, PullSetupFailed) else state
            case PullCheckRan():
                names[event.index] = row = event.stage
                what, state = t(language, "pages.timeline.head"), "completed" if event.step.passed else "failed"
            case PullBaseChecked():
                row, what = names.get(event.index, ""), t(language, "pages.timeline.base")
            case PullTestsRan():
                row, what = names.get(event.index, ""), t(language, f"pages.timeline.again.{event.place}")
            case PullReachMeasured():
                row, what = names.get(event.index, ""), t(language, "pages.timeline.reach")
        if row and before is not None:
            spans.append(Span(row, before, event.ts, state, what))
        before = event.ts
    if live and before is not None:
        name = t(language, "pages.timeline.now")
        spans.append(Span(name, before, max(now, before), "running", name))
    return spans


def _end(spans: dict[str, Span], key: str, at: datetime, state: str) -> None:
    if key in spans:
        begun = spans[key]
        spans[key] = Span(begun.row, begun.start, at, state, begun.what)


def _phase(phase: Phase, language: Language) -> str:
    return t(language, f"pages.phase.{phase}")


def _attempt_row(phase: Phase, iteration: int | None, language: Language) -> str:
    if iteration is None:
        return _phase(phase, language)
    if iteration == 0:
        return t(language, "pages.timeline.before")
    return t(language, "pages.timeline.attempt", attempt=iteration, what=_phase(phase, language))
