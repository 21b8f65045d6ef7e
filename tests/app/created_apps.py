"""A stand-in, the settings of a server that has no App yet, and the App that it gets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import SecretStr

from bot.config import Settings
from bot.github.app_manifest import NewApp
from demo.standin.server import StandIn


def unset(home: Path, github: StandIn | None = None, **more: Any) -> Settings:
    """Settings without an App."""
    urls = {} if github is None else {"github_api_url": github.api_url, "github_url": github.url}
    return Settings(home=home, **{**urls, **more})


def new_app(pem: str = "-----BEGIN KEY-----\nabc\n-----END KEY-----\n") -> NewApp:
    """An App as GitHub returns it."""
    return NewApp(
        id=77,
        slug="mendbot-77",
        name="Mendbot 77",
        html_url="https://github.com/apps/mendbot-77",
        client_id="Iv1.77",
        client_secret=SecretStr("c" * 40),
        webhook_secret=SecretStr("w" * 40),
        pem=SecretStr(pem),
    )
