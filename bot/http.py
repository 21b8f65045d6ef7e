"""The one import of the HTTP client, and the rule that its requests never leave the configured origin.
Redirects are followed here and not by the client, so that a POST stays a POST and no token travels abroad."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import httpx2
from httpx2 import ASGITransport, AsyncBaseTransport, AsyncClient

from bot.errors import ConfigError, Transient, UserError

__all__ = [
    "ASGITransport",
    "AsyncBaseTransport",
    "AsyncClient",
    "HttpResponse",
    "NotSent",
    "Unclear",
    "check_api_url",
    "leads_elsewhere",
    "open_client",
    "send",
]

MAX_REDIRECTS = 5
MAX_BODY_BYTES = 64 << 20
"""Far above any page GitHub sends; it bounds what a broken server or a compressed bomb may make us hold."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HOST_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?")
_SETTING = "MENDBOT_GITHUB_API_URL"
_PUBLIC_API = "api.github.com"
_PUBLIC = frozenset({_PUBLIC_API, "github.com"})
"""Known to be public, so that starting needs no look-up."""

Resolve = Callable[[str], Iterable[str]]


class NotSent(Transient):
    """The request never reached the server; repeating it is safe whatever its method."""


class Unclear(Transient):
    """The request may have had its effect although no usable answer came; look before you repeat a write."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """One HTTP answer; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def _resolve(host: str) -> Iterable[str]:
    """The addresses of a name; none where it cannot be resolved now, for then nothing can be sent there either."""
    try:
        return {str(entry[4][0]) for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
    except (OSError, UnicodeError):
        return ()


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _loopback(host: str) -> bool:
    """Loopback said literally; `localhost` is loopback by RFC 6761, section 6.3."""
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _parse(url: str, setting: str) -> httpx2.URL:
    try:
        parsed = httpx2.URL(url)
        _ = parsed.origin  # raises where there is no scheme or host
    except (httpx2.InvalidURL, ValueError, TypeError):
        like = _PUBLIC_API if setting == _SETTING else "github.com"
        raise ConfigError(f"{setting} is not an absolute URL; write it like https://{like}") from None
    return parsed


def check_api_url(url: str, allow_private: bool, resolve: Resolve = _resolve, setting: str = _SETTING) -> str:
    """A base URL that tokens may go to, without a trailing slash, or ConfigError with what is wrong (T7).

    `setting` names where it comes from: the API's, or git's, to which the same tokens are sent.

    https anywhere public; http and private, link-local or metadata addresses only with `allow_private`; literal
    loopback always. Names are resolved, so that a public-looking name of a private address is refused too."""
    parsed = _parse(url, setting)
    host = parsed.host.rstrip(".")
    if parsed.scheme not in ("http", "https"):
        raise ConfigError(f"{setting} must start with https://")
    if parsed.userinfo:
        raise ConfigError(f"{setting} must not hold a user name or password; the App's key is all it needs")
    if parsed.query or parsed.fragment:
        raise ConfigError(f"{setting} must not have a ? or # part")
    if _address(host) is None and (not _HOST_NAME.fullmatch(host) or _looks_numeric(host)):
        raise ConfigError(f"{setting}: {host!r} is neither a host name nor an address in its usual form")
    if not _loopback(host) and not allow_private:
        if parsed.scheme != "https":
            raise ConfigError(f"{setting} must use https:// (or set MENDBOT_ALLOW_PRIVATE_API=1 to allow plain HTTP)")
        _refuse_private(host, resolve, setting)
    return str(parsed).rstrip("/")


def _looks_numeric(host: str) -> bool:
    """Whether a resolver may read it as a number: `2130706433`, `0x7f.1`, `127.1` (WHATWG URL, "ends in a number")."""
    last = host.rpartition(".")[2]
    return last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last) is not None


def _refuse_private(host: str, resolve: Resolve, setting: str) -> None:
    literal = _address(host)
    names = [host] if literal is not None else [] if host in _PUBLIC else resolve(host)
    for name in names:
        address = _address(name)
        if address is None or not address.is_global or address.is_multicast:
            raise ConfigError(
                f"{setting}: {host} is a private or local address; "
                "set MENDBOT_ALLOW_PRIVATE_API=1 if your GitHub server really lives there"
            )


def leads_elsewhere(origin: str, target: str) -> bool:
    """Whether a URL that a server named leads out of `origin`'s scheme, host and port, or is no URL at all.

    A relative one is read against `origin`, the API's base URL."""
    base = httpx2.URL(origin)
    try:
        return base.join(target).origin != base.origin
    except (httpx2.InvalidURL, ValueError, TypeError):
        return True


def open_client(
    origin: str, *, allow_private: bool = False, timeout_s: float = 30.0, transport: AsyncBaseTransport | None = None
) -> AsyncClient:
    """A client that refuses, with UserError and before a byte is sent, every URL outside `origin`'s scheme, host, port.

    `origin` is the API's base URL and is checked by `check_api_url` (ConfigError). `timeout_s` limits each of
    connecting, reading and writing. `transport` replaces the network (tests).
    The environment's proxies serve all but loopback."""
    base = check_api_url(origin, allow_private, _resolve if transport is None else lambda _: ())
    pinned = httpx2.URL(base).origin

    async def stay_home(request: httpx2.Request) -> None:
        if request.url.is_relative_url or request.url.origin != pinned:
            raise UserError(f"refused to follow GitHub's answer to {request.url.host}: it is outside {base}")

    return AsyncClient(
        http2=False,
        follow_redirects=False,
        timeout=timeout_s,
        trust_env=not _loopback(httpx2.URL(base).host),
        transport=transport,
        event_hooks={"request": [stay_home]},
    )


async def send(
    client: AsyncClient, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", total_s: float = 60.0
) -> HttpResponse:
    """One request and its redirects within the origin, with method and body kept (GitHub's best practices for the REST
    API: repeat the request at the new URL). Raises NotSent or Unclear for network trouble,
    UserError for a foreign URL."""
    try:
        async with asyncio.timeout(total_s):
            for _ in range(MAX_REDIRECTS + 1):
                answer, target = await _exchange(client, method, url, headers, body)
                if target is None:
                    return answer
                if answer.status == 303:
                    method, body = "GET", b""
                url = target
    except TimeoutError:
        raise Unclear(f"{method} {_path(url)}: no whole answer within {total_s:g} s") from None
    raise Transient(f"{method} {_path(url)}: more than {MAX_REDIRECTS} redirects")


async def _exchange(
    client: AsyncClient, method: str, url: str, headers: Mapping[str, str], body: bytes
) -> tuple[HttpResponse, str | None]:
    try:
        async with client.stream(method, url, headers=_with_length(headers, body), content=body) as response:
            held = bytearray()
            async for chunk in response.aiter_bytes():
                held += chunk
                if len(held) > MAX_BODY_BYTES:
                    raise Unclear(f"{method} {_path(url)}: the answer is larger than {MAX_BODY_BYTES >> 20} MiB")
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError) as error:
        raise NotSent(f"GitHub cannot be reached: {_said(error)}") from error
    except (httpx2.RequestError, httpx2.StreamError) as error:
        raise Unclear(f"{method} {_path(url)}: {_said(error)}") from error
    except httpx2.InvalidURL as error:
        raise Transient(f"GitHub's answer led to something that is no URL: {error}") from error
    answer = HttpResponse(response.status_code, {k.lower(): v for k, v in response.headers.items()}, bytes(held))
    location = answer.headers.get("location")
    if answer.status not in _REDIRECTS or not location:
        return answer, None
    return answer, _join(response.url, location)


def _with_length(headers: Mapping[str, str], body: bytes) -> dict[str, str]:
    kept = {name: value for name, value in headers.items() if name.lower() != "content-length"}
    return kept | {"content-length": str(len(body))}


def _join(base: httpx2.URL, location: str) -> str:
    try:
        return str(base.join(location))
    except httpx2.InvalidURL:
        raise Transient(f"GitHub redirected {base.path} to something that is no URL") from None


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__


def _path(url: str) -> str:
    """The path of a URL for a message; queries may hold what a message should not."""
    return re.sub(r"^[a-z]+://[^/]*", "", url.partition("?")[0]) or "/"
