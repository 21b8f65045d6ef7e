"""The coding agent of `benchmarks.projects`: a program that plays one of four parts, which the issue's title names.

Usage: project_agent.py DIRECTORY, the brief on stdin, the tree as its directory. DIRECTORY/PART/N holds the files of
attempt N as they shall be, `deleted.json` the paths that shall go, or `answer.json`, which is printed. The last attempt
is repeated. It uses the standard library alone, since it runs in the sandbox like any agent."""

import json
import re
import shutil
import sys
from pathlib import Path


def main() -> int:
    brief = sys.stdin.read()
    part, number = re.search(r"\(part: (\w+)\)", brief), re.search(r"attempt (\d+) of", brief)
    if part is None or number is None:
        sys.stderr.write("project agent: the brief names no part or no attempt\n")
        return 1
    attempts = sorted((Path(sys.argv[1]) / part[1]).iterdir(), key=lambda path: int(path.name))
    if not attempts:
        return 0
    here = attempts[min(int(number[1]), len(attempts)) - 1]
    for name in json.loads((here / "deleted.json").read_text()) if (here / "deleted.json").exists() else ():
        Path(name).unlink(missing_ok=True)
    if (here / "files").is_dir():
        shutil.copytree(here / "files", Path.cwd(), dirs_exist_ok=True)
    if (here / "answer.json").exists():
        sys.stdout.write((here / "answer.json").read_text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
