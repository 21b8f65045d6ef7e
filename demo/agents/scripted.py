"""A stand-in for a coding agent: it answers each attempt with the change that was prepared for it.

Usage: scripted.py DIRECTORY, the brief on stdin; DIRECTORY holds 1.json, 2.json, … and the last one is repeated.
For issue 4 it holds 4/1.json, 4/2.json, … instead, and 4/test.json for the test that is wanted first.
It uses nothing but the standard library, since it runs in the sandbox like any agent."""

import re
import sys
from pathlib import Path


def main() -> int:
    brief = sys.stdin.read()
    number = re.search(r"attempt (\d+) of", brief)
    issue = re.search(r"^#(\d+) ", brief, re.MULTILINE)
    own = Path(sys.argv[1], issue[1]) if issue else Path(sys.argv[1])
    where = own if own.is_dir() else Path(sys.argv[1])
    if "a failing test is wanted" in brief:
        test = where / "test.json"
        sys.stdout.write(test.read_text(encoding="utf-8") if test.is_file() else "")
        return 0
    answers = sorted((path for path in where.glob("*.json") if path.stem.isdigit()), key=lambda path: int(path.stem))
    if number is None or not answers:
        sys.stderr.write("scripted agent: no attempt number in the brief, or no answers\n")
        return 1
    sys.stdout.write(answers[min(int(number[1]), len(answers)) - 1].read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
