"""A real npm project that installs from within itself, so that its setup needs no registry."""

from __future__ import annotations

import io
import json
import tarfile

PACKAGE = {
    "name": "tiny",
    "private": True,
    "scripts": {"test": "node test.js"},
    "dependencies": {"right": "file:./packages/right"},
    "devDependencies": {"typescript": "file:./packages/typescript.tgz"},
}
TEST = """\
const right = require("right");
const fs = require("fs");
if (fs.readFileSync("answer.txt", "utf8") !== right) {
  console.log("answer.txt:1: error: the answer is wrong");
  process.exit(1);
}
"""
TSC = "#!/usr/bin/env node\nconsole.log('types are fine');\n"
"""Stands for the compiler: what it is called and where it is installed is all that matters here."""


def npm_files(**package: object) -> dict[str, str | bytes | None]:
    """The project's files, with its answer wrong, and without any configuration of Mendbot's."""
    return {
        "package.json": json.dumps({**PACKAGE, **package}),
        "tsconfig.json": "{}\n",
        "test.js": TEST,
        "answer.txt": "41\n",
        "packages/right/package.json": json.dumps({"name": "right", "version": "1.0.0", "main": "index.js"}),
        "packages/right/index.js": 'module.exports = "42\\n";\n',
        "packages/typescript.tgz": _packed(
            {
                "package.json": json.dumps({"name": "typescript", "version": "5.0.0", "bin": {"tsc": "tsc.js"}}),
                "tsc.js": TSC,
            }
        ),
        ".gitignore": "node_modules/\n",
        ".github/mendbot.yml": None,
        "check.py": None,
    }


def _packed(files: dict[str, str]) -> bytes:
    """A package as a registry has it."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mode = len(text), 0o755
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()
