"""The secrets that this process holds: masked in what it stores and publishes, refused in what it would push."""

from __future__ import annotations

import os

from bot.config import Settings
from bot.github.client import GitHub
from bot.reports.limits import strip_control
from bot.reports.redact import Redactor


class Masker:
    """Masks every secret the process holds at the moment of asking: tokens come and go.

    Control sequences go first, since a colour code could split a token (trust.md T35, T38)."""

    def __init__(self, settings: Settings) -> None:
        secrets = (settings.private_key, settings.webhook_secret, settings.admin_token)
        self._fixed = tuple(value.get_secret_value() for value in secrets if value is not None)
        if settings.app_id:
            self._fixed = (*self._fixed, settings.key_pem)
        self._agent = tuple(os.environ[name] for name in settings.agent_env if name in os.environ)
        self._made: tuple[tuple[str, ...], Redactor] = ((), Redactor((*self._fixed, *self._agent)))
        self.github: GitHub | None = None

    def __call__(self, text: str) -> str:
        return self._redactor().mask(strip_control(text))

    def holds(self, text: str) -> bool:
        """Whether a secret of this process stands in a text that is not to be masked but refused."""
        return self._redactor().holds(text)

    def _redactor(self) -> Redactor:
        live = self.github.live_secrets() if self.github is not None else ()
        if live != self._made[0]:
            self._made = (live, Redactor((*self._fixed, *self._agent, *live)))
        return self._made[1]
