"""A stand-in for a coding agent: it answers each attempt with the change that was prepared for it.

Usage: scripted.py DIRECTORY, the brief on stdin; DIRECTORY holds 1.json, 2.json, … and the last one is repeated.
It uses nothing but the standard library, since it runs in the box like any agent."""

import re
import sys
from pathlib import Path


def main() -> int:
    brief = sys.stdin.read()
    number = re.search(r"attempt (\d+) of", brief)
    answers = sorted(Path(sys.argv[1]).glob("*.json"), key=lambda path: int(path.stem))
    if number is None or not answers:
        sys.stderr.write("scripted agent: no attempt number in the brief, or no answers\n")
        return 1
    sys.stdout.write(answers[min(int(number[1]), len(answers)) - 1].read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
