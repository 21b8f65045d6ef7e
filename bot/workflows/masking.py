"""The secrets that this process holds: masked in what it stores and publishes, refused in what it would push."""

from __future__ import annotations

import os

from bot.config import Settings, model_keys
from bot.github.client import GitHub
from bot.reports.format.redact import Redactor
from bot.reports.format.truncate import strip_control


class Masker:
    """Masks every secret the process holds at the moment of asking: tokens come and go.

    Control sequences go first, since a colour code could split a token (T35, T38)."""

    def __init__(self, settings: Settings) -> None:
        secrets = (
            settings.private_key,
            settings.webhook_secret,
            settings.admin_token,
            settings.github_client_secret,
        )
        fixed = [value.get_secret_value() for value in secrets if value is not None]
        if settings.app_id:
            fixed.append(settings.key_pem)
        agent = (os.environ[name] for name in settings.agent_env if name in os.environ)
        self._fixed = Redactor((*fixed, *agent, *model_keys()))
        self._made: tuple[dict[str, Redactor], Redactor] = ({}, self._fixed)
        self.github: GitHub | None = None

    def __call__(self, text: str) -> str:
        return self._redactor().mask(strip_control(text))

    def holds(self, text: str) -> bool:
        """Whether a secret of this process stands in a text that is not to be masked but refused."""
        return self._redactor().holds(text)

    def _redactor(self) -> Redactor:
        live = self.github.live_secrets() if self.github is not None else ()
        known, redactor = self._made
        if known.keys() != set(live):
            # a key takes tens of milliseconds of the loop that all jobs share, a token two: nothing is worked out twice
            known = {token: known[token] if token in known else Redactor((token,)) for token in live}
            redactor = Redactor((), self._fixed, *known.values())
            self._made = (known, redactor)
        return redactor
