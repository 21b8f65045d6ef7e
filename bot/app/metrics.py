"""The metrics of this server, read when they are asked for.

The figures of queues and the counts of ended runs come from the store, so they survive a restart. The counters of
deliveries and GitHub's budgets are those of this process. `docs/operating.md` explains each name."""

from __future__ import annotations

import asyncio
import platform
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bot import VERSION
from bot.app.worker import Worker
from bot.config import Settings
from bot.model.histogram import Histogram
from bot.store.database.database import Database, newest_revision
from bot.store.runs.agent_usage import AgentFigures, AgentUsage
from bot.store.runs.ended_runs import EndedRuns, Outcome
from bot.store.runs.queue_figures import QueueFigures, QueueStatistics
from bot.web.rejected_requests import Rejections
from bot.web.webhook import WebhookEndpoint

if TYPE_CHECKING:
    from prometheus_client import Metric

_ACTIVE = frozenset({"deliveries_processing", "fix_running", "pull_check_running"})
"""Rows that are worked on, and so wait in no queue."""
_RUN_KINDS = ("fix", "pull_check")


class Sources(NamedTuple):
    """Where the figures of one server come from."""

    settings: Settings
    database: Database
    worker: Worker
    webhook: WebhookEndpoint
    rejections: Rejections


class Reading(NamedTuple):
    """What was read for one answer."""

    queues: Mapping[str, QueueFigures]
    free: int
    total: int
    worktrees: Mapping[str, int]


class Metrics:
    """The metrics of one server. Use it from one event loop."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._queues = QueueStatistics(sources.database)
        self._ended = EndedRuns(sources.database)
        self._usage = AgentUsage(sources.database)

    async def exposition(self, accept: str) -> tuple[bytes, str]:
        """The text of all metrics in the format that the header `Accept` prefers, and its content type.

        Raises Transient if the database cannot be read."""
        # imported here, since a server that nobody monitors does not need it
        from prometheus_client import CollectorRegistry, ProcessCollector
        from prometheus_client.exposition import choose_encoder
        from prometheus_client.registry import Collector

        home = self._sources.settings.home
        queues = await self._queues.read()
        await self._ended.read()
        disk, worktrees = await asyncio.to_thread(lambda: (shutil.disk_usage(home), _worktrees(home)))
        reading = Reading(queues, disk.free, disk.total, worktrees)
        families = [*_of_deliveries(self._sources, queues), *_of_queues(queues), *_of_runs(self._ended, queues)]
        families += [*_of_agents(await self._usage.agents()), *_of_server(self._sources, reading)]

        class Read(Collector):
            def collect(self) -> Iterator[Metric]:
                return iter(families)

        registry = CollectorRegistry()
        registry.register(Read())
        ProcessCollector(registry=registry)
        encode, content_type = choose_encoder(accept)
        return encode(registry), content_type


def _of_deliveries(sources: Sources, queues: Mapping[str, QueueFigures]) -> Iterator[Metric]:
    acknowledged = {(): sources.webhook.acknowledged}
    help_ = "Time from the headers of an accepted delivery to its 202."
    yield _histogram("webhook_acknowledgement_seconds", help_, (), acknowledged)
    statuses = {"accepted": "deliveries", "processing": "deliveries_processing"}
    open_ = {(status,): queues[name].depth for status, name in statuses.items()}
    yield _gauge("deliveries_open", "Deliveries that are stored and not processed.", ("status",), open_)
    processed = {("done",): 0, ("ignored",): 0, ("failed",): 0}
    processed |= {(outcome,): count for outcome, count in sources.worker.processed_deliveries().items()}
    yield _counter("deliveries_processed", "Deliveries processed since the start.", ("outcome",), processed)
    refused = {(str(status),): count for status, count in dict(sources.rejections.counts).items()}
    yield _counter("deliveries_refused", "Deliveries refused since the start, by HTTP status.", ("status",), refused)


def _of_queues(queues: Mapping[str, QueueFigures]) -> Iterator[Metric]:
    waiting = {name: figures for name, figures in queues.items() if name not in _ACTIVE}
    depths = {(name,): figures.depth for name, figures in waiting.items()}
    yield _gauge("queue_depth", "Rows that wait in a queue.", ("queue",), depths)
    now = time.time()
    ages = {
        (name,): 0.0 if figures.oldest_at is None else max(0.0, now - figures.oldest_at / 1000)
        for name, figures in waiting.items()
    }
    yield _gauge(
        "queue_age_seconds", "How long the oldest row of a queue has waited; 0 if none waits.", ("queue",), ages
    )


def _of_runs(ended: EndedRuns, queues: Mapping[str, QueueFigures]) -> Iterator[Metric]:
    running = {(kind,): queues[f"{kind}_running"].depth for kind in _RUN_KINDS}
    yield _gauge("runs_running", "Runs that have started and not ended.", ("kind",), running)
    yield _counter("runs_ended", "Ended runs by how they ended.", Outcome._fields, dict(ended.outcomes))
    durations = {(kind,): histogram for kind, histogram in ended.durations.items()}
    yield _histogram("run_duration_seconds", "Time from a run's request to its end.", ("kind",), durations)
    help_ = "Time from an attempt's start to the verdict of its checks."
    yield _histogram("attempt_duration_seconds", help_, (), {(): ended.attempts})


def _of_agents(agents: Sequence[AgentFigures]) -> Iterator[Metric]:
    tokens = {(each.agent, "input"): each.input_tokens for each in agents}
    tokens |= {(each.agent, "output"): each.output_tokens for each in agents}
    yield _counter("agent_tokens", "Tokens of agents and models, where known.", ("agent", "kind"), tokens)
    cost = {(each.agent,): each.cost_usd for each in agents}
    yield _counter("agent_cost_usd", "US dollars of agents and models, where known.", ("agent",), cost)
    seconds = {(each.agent,): each.seconds for each in agents}
    yield _counter("agent_seconds", "Time that agents and models took.", ("agent",), seconds)
    calls = {(each.agent, "unknown"): each.uncounted for each in agents}
    calls |= {(each.agent, "known"): each.calls - each.uncounted for each in agents}
    help_ = "Answers of agents and models, by whether their usage is known."
    yield _counter("agent_calls", help_, ("agent", "usage"), calls)


def _of_server(sources: Sources, reading: Reading) -> Iterator[Metric]:
    settings, budgets = sources.settings, sources.worker.rate_budgets()
    help_ = "Requests that GitHub allows until the hour ends, by installation; 0 is the App itself."
    remaining = {(str(installation),): budget.remaining for installation, budget in budgets.items()}
    yield _gauge("github_requests_remaining", help_, ("installation",), remaining)
    limits = {(str(installation),): budget.limit for installation, budget in budgets.items()}
    yield _gauge("github_requests_limit", "Requests that GitHub allows an hour.", ("installation",), limits)
    yield _gauge("home_disk_free_bytes", "Free space of the home's file system.", (), {(): reading.free})
    yield _gauge("home_disk_size_bytes", "Size of the home's file system.", (), {(): reading.total})
    worktrees = {(repository,): count for repository, count in reading.worktrees.items()}
    yield _gauge("worktrees", "Worktrees of runs, by repository.", ("repository",), worktrees)
    slots = {(): settings.max_worktrees}
    yield _gauge("worktree_slots", "Worktrees that a repository may have at once.", (), slots)
    yield _gauge("workers", "Runs that are worked on at once, at most.", (), {(): settings.workers})
    versions = (VERSION, platform.python_version(), newest_revision())
    names = ("version", "python", "schema")
    yield _gauge("build_info", "The versions of Mendbot, Python and the database schema.", names, {versions: 1})


def _worktrees(home: Path) -> Mapping[str, int]:
    """How many directories of runs each repository has below the home."""
    return Counter(f"{run.parts[-3]}/{run.parts[-2]}" for run in (home / "worktrees").glob("*/*/*") if run.is_dir())


def _gauge(name: str, help_: str, labels: tuple[str, ...], values: Mapping[Any, float]) -> Metric:
    """A gauge with these values by the values of its labels."""
    from prometheus_client.metrics_core import GaugeMetricFamily

    family = GaugeMetricFamily(f"mendbot_{name}", help_, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


def _counter(name: str, help_: str, labels: tuple[str, ...], values: Mapping[Any, float]) -> Metric:
    """As `_gauge`, a counter."""
    from prometheus_client.metrics_core import CounterMetricFamily

    family = CounterMetricFamily(f"mendbot_{name}", help_, labels=labels)
    for key, value in values.items():
        family.add_metric(key, value)
    return family


def _histogram(name: str, help_: str, labels: tuple[str, ...], values: Mapping[Any, Histogram]) -> Metric:
    """As `_gauge`, a histogram."""
    from prometheus_client.metrics_core import HistogramMetricFamily

    family = HistogramMetricFamily(f"mendbot_{name}", help_, labels=labels)
    for key, histogram in values.items():
        family.add_metric(key, histogram.buckets(), histogram.total)
    return family
