"""The stylesheet, the script and the icon."""

from __future__ import annotations

import pytest

from bot.web.pages.static_files import StaticFiles
from tests.web.pages.client import Client


@pytest.mark.parametrize(
    ("name", "kind"),
    [("mendbot.css", "text/css"), ("mendbot.js", "text/javascript"), ("mendbot.svg", "image/svg+xml")],
)
def test_static_files_are_open_and_cached_by_their_digest(visitor: Client, name: str, kind: str) -> None:
    answer = visitor.get(StaticFiles().address(name))
    assert answer.status == 200 and answer.headers["content-type"].startswith(kind)
    assert "immutable" in answer.headers["cache-control"]
    etag = answer.headers["etag"]
    assert visitor.get(f"/static/{name}", If_None_Match=f'"x", {etag}').status == 304
    assert visitor.get(f"/static/{name}?v=old").headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("path", ["/static/none.css", "/static/..%2Fsite.py", "/static/"])
def test_nothing_else_is_served(visitor: Client, path: str) -> None:
    assert visitor.get(path).status == 404
