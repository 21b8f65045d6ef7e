"""`python -m benchmarks [NAME…] [--json]`: run the benchmarks and print their results.
The table below is all there are, but for `projects DIR…`, which needs clones of yours (`benchmarks.projects`), and
`issues DIR`, which needs reports of trackers (`benchmarks.real_issues`)."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping

from benchmarks import (
    ack,
    agent_start,
    dashboard,
    eyes,
    fingerprint_tiers,
    fingerprints,
    grouping,
    history_page,
    hook,
    idle,
    locations,
    lookup,
    loop,
    patches,
    projects,
    proof,
    real_issues,
    setup,
    start,
    streams,
    verdict,
    wheel,
    worktrees,
)
from benchmarks.result import Result, as_table

BENCHMARKS: Mapping[str, Callable[[], Result]] = {
    "ack": lambda: ack.measure(ack.Size()),
    "eyes": lambda: eyes.measure(eyes.Size()),
    "loop": lambda: loop.measure(loop.Size()),
    "start": lambda: start.measure(start.Size()),
    "wheel": lambda: wheel.measure(wheel.Size()),
    "idle": lambda: idle.measure(idle.Size()),
    "hook": lambda: hook.measure(hook.Size()),
    "dashboard": lambda: dashboard.measure(dashboard.Size()),
    "history-page": lambda: history_page.measure(history_page.Size()),
    "streams": lambda: streams.measure(streams.Size()),
    "lookup": lambda: lookup.measure(lookup.Size()),
    "fingerprints": lambda: fingerprints.measure(fingerprints.Size()),
    "look-up": fingerprint_tiers.measure,
    "patches": lambda: patches.measure(patches.Size()),
    "setup": lambda: setup.measure(setup.Size()),
    "agent-start": lambda: agent_start.measure(agent_start.Size()),
    "worktrees": lambda: worktrees.measure(worktrees.Size()),
    "grouping": lambda: grouping.measure(grouping.Size()),
    "verdict": lambda: verdict.measure(verdict.Size()),
    "proof": lambda: proof.measure(proof.Size()),
    "locations": lambda: locations.measure(locations.Size()),
}


def main() -> int:
    if sys.argv[1:2] == ["projects"]:
        return projects.main(sys.argv[2:])
    if sys.argv[1:2] == ["issues"]:
        return real_issues.main(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="measure, each goal beside its reference")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all by default")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark is named {unknown[0]!r}: choose from {', '.join(BENCHMARKS)}")
    results = []
    for name in options.names or BENCHMARKS:
        sys.stderr.write(f"measuring {name} …\n")
        results.append(BENCHMARKS[name]())
        if not options.json:
            print(as_table(results[-1]), flush=True)
    if options.json:
        print(json.dumps([result.as_json() for result in results], indent=2))
    return 0 if all(row.met is not False for result in results for row in result.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
