"""The ten presets of the seed's section 10, on a real server: each shows what its name says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from bot.web.pages.presets import PRESETS
from demo.standin.server import StandIn
from tests.e2e.conftest import SECRET
from tests.e2e.server import Server
from tests.e2e.session_faces import TOKEN
from tests.e2e.session_faces import Client as Program
from tests.web.pages.client import Client, fields_of

PIPELINE = ("lint", "typecheck", "test")
SHOWN: Mapping[str, tuple[str, str | None, tuple[str, ...]]] = {
    "pipeline_success": ("success", None, PIPELINE),
    "lint_failure": ("failed", "lint", ("lint",)),
    "typecheck_failure": ("failed", "type", ("lint", "typecheck")),
    "test_failure": ("failed", "test", PIPELINE),
    "runtime_failure": ("failed", "runtime", PIPELINE),
    "unknown_failure": ("failed", "unknown", ("custom",)),
    "patch_success": ("success", None, PIPELINE),
    "patch_fallback": ("success", None, PIPELINE),
    "test_command_only": ("success", None, PIPELINE),
    "validation_commands_only": ("success", None, ("custom", "test")),
}
"""The status, the classification and the stages that ran, by preset."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root = tmp_path_factory.mktemp("presets")
    with StandIn(root / "github", webhook_url=None, webhook_secret=SECRET) as github:
        bot = Server(github, root, MENDBOT_ADMIN_TOKEN=TOKEN)
        try:
            bot.start()
            yield bot
        finally:
            bot.kill()


def test_there_are_ten() -> None:
    assert [preset.name for preset in PRESETS] == list(SHOWN) and len(PRESETS) == 10


@pytest.mark.parametrize("name", list(SHOWN))
def test_a_preset_shows_what_its_name_says(server: Server, name: str) -> None:
    """REQ-RUN-009, REQ-RUN-005, REQ-RUN-006: from the form to the validation summary of the session's page."""
    browser = Client(server.port)
    assert browser.sign_in(TOKEN).status == 303
    text = browser.get(f"/sessions/new?preset={name}").text
    plain = fields_of(text)
    assert len(plain) == 8
    answer = browser.submit(f"/sessions/new?preset={name}", "/sessions", **plain)
    assert answer.status == 303, answer.text
    path = answer.headers["location"]
    ended = Program(server).ended(path.removeprefix("/runs/"))
    status, classification, stages = SHOWN[name]
    validation = [item for item in ended["artifacts"] if item["phase"] == "validation"][-1]
    assert (ended["status"], validation.get("classification")) == (status, classification)
    assert tuple(step["stage"] for step in validation["steps"]) == stages
    fallback = [event for event in ended["events"] if event["type"] == "patch_fallback_applied"]
    assert bool(fallback) is (name == "patch_fallback")
    page = browser.get(path).text
    assert f'id="latest-validation" href="{path}/artifacts/{validation["id"]}"' in page
    shown = page.partition('id="final-classification">')[2].partition("</dd>")[0]
    assert (classification or "–") in shown
