"""Runs git against a remote repository: its address, its token, and what its error messages mean.
The token lives in the environment of the one git process that transfers, never in argv or on disk (T24)."""

from __future__ import annotations

import base64
import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from bot.errors import MendbotError, Transient, UserError
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason
from bot.workspace.git.command import GitError, git

_TIMEOUT_S = 900.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_PASSAGE = (
    *("HTTPS_PROXY", "https_proxy", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"),
)


@dataclass(frozen=True, slots=True)
class Remote:
    """A repository's address (`http(s)://…`, or an absolute local path) and its token."""

    url: str
    token: SecretStr | None = None

    def mask(self, text: str) -> str:
        """`text` without the token, plain or as it is sent."""
        for secret in self._secrets():
            text = text.replace(secret, "***")
        return text

    def environment(self) -> dict[str, str]:
        """Returns the variables with which git reaches it: the one allowed scheme, the token, the operator's proxy."""
        env = {"GIT_ALLOW_PROTOCOL": self.scheme}
        if self.scheme == "file":
            return env
        parts = urlsplit(self.url)
        if parts.hostname not in _LOOPBACK:
            env |= {name: os.environ[name] for name in _PASSAGE if name in os.environ}
        if self.token is not None:
            env["GIT_CONFIG_COUNT"] = "1"
            env["GIT_CONFIG_KEY_0"] = f"http.{parts.scheme}://{parts.netloc}/.extraHeader"
            env["GIT_CONFIG_VALUE_0"] = f"Authorization: Basic {self._secrets()[-1]}"
        return env

    @property
    def scheme(self) -> str:
        """`http`, `https` or `file`; UserError for every other address (T19)."""
        if self.url.startswith("/"):
            return "file"
        try:
            parts = urlsplit(self.url)
        except ValueError:
            raise user_error(make_reason("remote.no_url")) from None
        if parts.username is not None or parts.password is not None:
            raise user_error(make_reason("remote.credentials"))
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise user_error(make_reason("remote.bad_scheme", url=repr(self.url)))
        return parts.scheme

    def _secrets(self) -> tuple[str, ...]:
        if self.token is None or not (token := self.token.get_secret_value()):
            return ()
        return token, base64.b64encode(f"x-access-token:{token}".encode()).decode()


class AccessDenied(UserError):
    """The remote denies access, or hides that the repository exists; a fresh token may help."""


_FAILURES: tuple[tuple[re.Pattern[str], str, type[MendbotError]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), kind, error)
    for pattern, kind, error in (
        (r"returned error: 30\d|unable to update url base from redirection", "remote.moved", UserError),
        (
            r"could not read Username|Authentication failed|returned error: (?:401|403)|invalid credentials",
            "remote.denied",
            AccessDenied,
        ),
        (
            r"returned error: 404|repository .*not found|does not appear to be a git repository",
            "remote.not_found",
            AccessDenied,
        ),
        (r"certificate", "remote.certificate", UserError),
        (
            r"returned error: (?:5\d\d|408|425|429)|could not resolve|(?:failed|couldn't|could not) (?:to )?connect"
            r"|connection |network is unreachable|timed out|timeout|too slow|empty reply|early eof|hung up|rpc failed"
            r"|disconnect|gnutls_handshake|ssl_read|ssl_connect|tls|unexpected flush|bad band|expected flush"
            r"|protocol error|reset by peer",
            "remote.failed",
            Transient,
        ),
    )
)
"""What git's message means. The first pattern that is found in it decides."""


async def transfer(mirror: Path, remote: Remote, *args: str) -> bytes:
    """Run a git command that talks to `remote` (its URL is among `args`) and return its stdout.

    Raises Transient for network trouble, 5xx and 429; AccessDenied for 401, 403 and 404; UserError for a moved
    repository or a bad certificate; else GitError. No message holds the token."""
    flags = ("-c", f"protocol.{remote.scheme}.allow=always", "-c", "http.lowSpeedLimit=1", "-c", "http.lowSpeedTime=60")
    try:
        return await git(*flags, *args, git_dir=mirror, env=remote.environment(), timeout_s=_TIMEOUT_S)
    except GitError as error:
        raise _explained(error, remote) from None


def _explained(error: GitError, remote: Remote) -> MendbotError | GitError:
    stderr = remote.mask(error.stderr)
    masked = GitError(error.argv, error.exit_code, stderr, remote.mask(error.stdout))
    if error.stdout.lstrip().startswith("To "):  # `push --porcelain` answered: it is a rejection, not a failure
        return masked
    for pattern, kind, error_type in _FAILURES:
        if pattern.search(stderr):
            return user_error(make_reason(kind, url=remote.url, why=masked.reason), error_type)
    return masked
