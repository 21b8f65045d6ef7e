"""The pages that are made from the code are those that the code makes now; lists by people name what the code has."""

from __future__ import annotations

import ast
import re
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bot.model.app_requirements import APP_EVENTS, APP_PERMISSIONS
from bot.reports.locale.catalog import messages
from bot.web.sessions import routes
from tests.documents.generated import COMMAND, DOCS, GENERATED

ROOT = DOCS.parent


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_page_is_what_the_code_makes_of_it(name: str) -> None:
    committed = (DOCS / name).read_text(encoding="utf-8")
    assert committed == GENERATED[name](), f"run: {COMMAND}"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def stop_reasons() -> set[str]:
    """Each name that the code gives a stop reason."""
    found = {key.split(".")[1] for key in messages("en") if re.fullmatch(r"stop\.\w+(?:\.figures)?", key)} - {"other"}
    for path in (ROOT / "bot").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if "ExplainedStop" in source else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("ExplainedStop", "ExplainedStop.of"):
                first = [*node.args, *(each.value for each in node.keywords if each.arg == "reason")][0]
                if isinstance(first, ast.Constant):
                    found.add(str(first.value))
    return found


def test_every_stop_reason_has_an_anchor() -> None:
    headings = re.findall(r"^### `(\w+)`$", page("stop-reasons.md"), re.MULTILINE)
    assert len(headings) == len(set(headings))
    assert stop_reasons() - set(headings) == set()
    assert len(stop_reasons()) > 20


def documented_routes() -> set[str]:
    """The routes of the page, with each `[…]` and each second path of a row written out."""
    found = set()
    for row in re.findall(r"^\| (`(?:GET|POST) .+?) \|", page("http.md"), re.MULTILINE):
        method, parent = "GET", ""
        for cell in re.findall(r"`([^`]+)`", row):
            words = cell.split(" ")
            method, path = (words[0], words[1]) if len(words) == 2 else (method, words[0])
            path = path.partition("?")[0]
            path = path if path.startswith(("/api", "/ping", "/healthz", "/readyz", "/metrics")) else f"{parent}{path}"
            whole, _, option = path.partition("[")
            parent = whole.rsplit("/", 1)[0]
            found |= {f"{method} {whole}"} | ({f"{method} {whole}{option.rstrip(']')}"} if option else set())
    return found


def test_every_route_of_the_http_interface_is_documented() -> None:
    guard = cast(Any, SimpleNamespace(read=lambda endpoint, **_: endpoint, write=lambda endpoint, **_: endpoint))
    names = {"{session}": "ID", "{artifact}": "ARTIFACT", "{log}": "LOG", "{delivery}": "ID"}
    served = [(route.path, route.methods or set()) for route in routes(cast(Any, None), cast(Any, None), guard)]
    source = (ROOT / "bot" / "app" / "server.py").read_text(encoding="utf-8")
    listed = re.findall(r'Route\("([^"]+)"(.*)', source)
    served += [(path, {"POST"} if "POST" in rest else {"GET"}) for path, rest in listed]
    real = {"POST /api/github/webhooks"}
    for path, methods in served:
        written = re.sub(r"\{\w+\}", lambda name: names[name[0]], path)
        real |= {f"{method} {written}" for method in methods - {"HEAD"}}
    assert documented_routes() == real


def test_permissions_and_events_of_the_app_are_documented() -> None:
    text = page("reference.md")
    permissions, events = text.split("## Events of the App", 1)
    assert re.findall(r"^\| `([\w: ]+)` \|", permissions, re.MULTILINE) != []
    named = dict(each.split(": ") for each in re.findall(r"^\| `(\w+: \w+)` \|", permissions, re.MULTILINE))
    assert named == APP_PERMISSIONS
    rows = re.findall(r"^\| (`.+?) \|", events.split("## Check runs", 1)[0], re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`(\w+)`", row)} == set(APP_EVENTS)


def test_labels_that_mendbot_sets_are_documented() -> None:
    text = page("issues.md")
    source = (ROOT / "bot/workflows/reporting/publish_run.py").read_text(encoding="utf-8")
    set_by_us = set(re.findall(r'"(auto-fix-\w+|needs-\w+)"', source))
    assert len(set_by_us) == 4
    assert [name for name in set_by_us if f"| `{name}` |" not in text] == []
