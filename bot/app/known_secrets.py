"""The secrets that the settings of this process name, as far as it can read them."""

from __future__ import annotations

import os
from contextlib import suppress

from bot.app.admin_token import with_known_token
from bot.app.created_app import with_created_app
from bot.config import Settings, model_keys
from bot.errors import ConfigError
from bot.reports.format.redact import Redactor


def known_secrets(settings: Settings) -> Redactor:
    """Masks the App's key and secrets, the admin token and what the command agent receives."""
    settings = with_known_token(settings)
    with suppress(ConfigError):
        settings = with_created_app(settings)
    secrets = [
        value.get_secret_value()
        for value in (
            settings.private_key,
            settings.webhook_secret,
            settings.admin_token,
            settings.github_client_secret,
        )
        if value is not None
    ]
    secrets += [os.environ[name] for name in settings.agent_env if name in os.environ]
    secrets += model_keys()
    with suppress(ConfigError):  # a key that cannot be read cannot be printed either
        secrets.append(settings.key_pem)
    return Redactor(secrets)
