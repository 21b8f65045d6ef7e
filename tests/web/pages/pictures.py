"""`python -m tests.web.pages.pictures`: make the pictures of the documents, `docs/pictures/*.png`, with Chromium.

They show a real server, on which the presets of the session form have just run, and which has some records."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from bot.app.home import claim_home
from bot.store.database.database import Database
from bot.web.pages.presets import PRESETS
from demo.standin.server import StandIn
from tests.e2e.conftest import SECRET
from tests.e2e.server import Server
from tests.e2e.session_faces import TOKEN
from tests.e2e.session_faces import Client as Program
from tests.web.pages.chromium import chromium, sign_in
from tests.web.pages.client import Client, fields_of
from tests.web.pages.picture_records import fill_pictures

DIRECTORY = Path(__file__).parents[3] / "docs" / "pictures"


def run_presets(server: Server) -> dict[str, str]:
    """The path of the page of each preset's session, once it has ended."""
    browser, paths = Client(server.port), {}
    browser.sign_in(TOKEN)
    for preset in PRESETS:
        form = f"/sessions/new?preset={preset.name}"
        answer = browser.submit(form, "/sessions", **fields_of(browser.get(form).text))
        paths[preset.name] = answer.headers["location"]
        Program(server).ended(paths[preset.name].removeprefix("/runs/"))
    return paths


def stand_in(root: Path) -> StandIn:
    """A GitHub that sends nothing."""
    return StandIn(root / "github", webhook_url=None, webhook_secret=SECRET)


def fill_home(home: Path) -> None:
    """Store what a server has after some weeks."""
    claim_home(home)
    database = Database(f"sqlite:///{home / 'mendbot.db'}")
    database.migrate()
    asyncio.run(fill_pictures(database))
    database.close()


def main() -> int:
    DIRECTORY.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as where,
        StandIn(Path(where) / "g", webhook_url=None, webhook_secret=SECRET) as g,
    ):
        work = Path(where) / "work"
        work.mkdir()
        variables = {"MENDBOT_WORKSPACE_ROOTS": str(work), "MENDBOT_ADMIN_TOKEN": TOKEN}
        sign_in_by = {"GITHUB_CLIENT_ID": g.client_id, "GITHUB_CLIENT_SECRET": g.client_secret}
        server = Server(g, Path(where), **variables, **sign_in_by)
        fill_home(server.home)
        try:
            server.start()
            paths = run_presets(server)
            shots = {"dashboard": "/", "failed-run": paths["lint_failure"], "run": paths["patch_success"],
                     "session-form": "/sessions/new?preset=lint_failure", "history": "/history?repo=octo/shop",
                     "groups": "/groups", "setup": "/setup"}  # fmt: skip
            origin = f"http://127.0.0.1:{server.port}"
            with chromium() as browser:
                for scheme, suffix in (("light", ""), ("dark", "-dark")):
                    page = browser.new_page(color_scheme=scheme, viewport={"width": 1200, "height": 800})  # type: ignore[arg-type]
                    page.goto(f"{origin}/login")
                    page.screenshot(path=DIRECTORY / f"sign-in{suffix}.png")
                    sign_in(page, origin, TOKEN)
                    for name, path in shots.items():
                        page.goto(origin + path)
                        page.screenshot(path=DIRECTORY / f"{name}{suffix}.png")
        finally:
            server.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
