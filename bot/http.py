"""The HTTP client, whose requests never leave the configured origin; no other module imports httpx2.

Redirects are followed here and not by the client: a POST stays a POST, and no token goes to another origin."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass

import httpx2
from httpx2 import ASGITransport, AsyncBaseTransport, AsyncClient

from bot.errors import ConfigError, Transient, UserError
from bot.reports.locale.reasons import user_error
from bot.rules.reasons import make_reason

__all__ = [
    "ASGITransport",
    "AsyncBaseTransport",
    "AsyncClient",
    "HttpResponse",
    "NotSent",
    "Unclear",
    "check_api_url",
    "event_data",
    "leads_elsewhere",
    "open_client",
    "send",
]

MAX_REDIRECTS = 5
MAX_BODY_BYTES = 64 << 20
"""Far above any page GitHub sends. It limits what a broken server or a compressed bomb can put into memory."""

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
    """The request may have had its effect, although no usable response came. Check before you repeat a write."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """One HTTP response; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def _resolve(host: str) -> Iterable[str]:
    """The addresses of a host name; none if it cannot be resolved now, as nothing can be sent there then."""
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
    """Whether the host is a literal loopback address or `localhost` (RFC 6761, section 6.3)."""
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _parse(url: str, setting: str) -> httpx2.URL:
    try:
        parsed = httpx2.URL(url)
        _ = parsed.origin  # raises where there is no scheme or host
    except (httpx2.InvalidURL, ValueError, TypeError):
        example = _PUBLIC_API if setting == _SETTING else "github.com"
        raise user_error(make_reason("url.not_absolute", setting=setting, example=example), ConfigError) from None
    return parsed


def check_api_url(url: str, allow_private: bool, resolve: Resolve = _resolve, setting: str = _SETTING) -> str:
    """The base URL without a trailing slash, if tokens may be sent there; raises ConfigError if not (T7).

    `setting` names the setting that holds the URL: the API's or git's, which receive the same tokens.

    Public hosts need https. Plain http and private, link-local or metadata addresses need `allow_private`. Literal
    loopback is always allowed. Names are resolved, so a public name of a private address is refused too."""
    parsed = _parse(url, setting)
    host = parsed.host.rstrip(".")
    if parsed.scheme not in ("http", "https"):
        raise user_error(make_reason("url.scheme", setting=setting), ConfigError)
    if parsed.userinfo:
        raise user_error(make_reason("url.user_info", setting=setting), ConfigError)
    if parsed.query or parsed.fragment:
        raise user_error(make_reason("url.query", setting=setting), ConfigError)
    if _address(host) is None and (not _HOST_NAME.fullmatch(host) or _looks_numeric(host)):
        raise user_error(make_reason("url.host", setting=setting, host=repr(host)), ConfigError)
    if not _loopback(host) and not allow_private:
        if parsed.scheme != "https":
            raise user_error(make_reason("url.plain_http", setting=setting), ConfigError)
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
            raise user_error(make_reason("url.private", setting=setting, host=host), ConfigError)


def leads_elsewhere(origin: str, target: str) -> bool:
    """Whether a URL from a server is outside `origin`'s scheme, host and port, or is no URL at all.

    `origin` is the API's base URL. A relative URL is resolved against it."""
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
    The environment's proxies serve all but loopback. A client of plain HTTP reads no certificates: it trusts none."""
    base = check_api_url(origin, allow_private, _resolve if transport is None else lambda _: ())
    pinned, local = httpx2.URL(base).origin, _loopback(httpx2.URL(base).host)

    async def check_origin(request: httpx2.Request) -> None:
        if request.url.is_relative_url or request.url.origin != pinned:
            raise user_error(make_reason("http.elsewhere", host=request.url.host, base=base), UserError)

    return AsyncClient(
        http2=False,
        follow_redirects=False,
        verify=True if base.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        timeout=timeout_s,
        trust_env=not local,
        transport=transport,
        event_hooks={"request": [check_origin]},
    )


async def send(
    client: AsyncClient, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", total_s: float = 60.0
) -> HttpResponse:
    """Sends one request, follows redirects within the origin, and returns the response.

    A redirect repeats the method and the body, as GitHub's best practices for the REST API want it. Raises NotSent or
    Unclear for network problems and UserError for a URL outside the origin."""
    try:
        async with asyncio.timeout(total_s):
            for _ in range(MAX_REDIRECTS + 1):
                response, target = await _exchange(client, method, url, headers, body)
                if target is None:
                    return response
                if response.status == 303:
                    method, body = "GET", b""
                url = target
    except TimeoutError:
        reason = make_reason("http.too_slow", request=f"{method} {_path(url)}", seconds=f"{total_s:g}")
        raise user_error(reason, Unclear) from None
    reason = make_reason("http.redirects", request=f"{method} {_path(url)}", limit=MAX_REDIRECTS)
    raise user_error(reason, Transient)


async def _exchange(
    client: AsyncClient, method: str, url: str, headers: Mapping[str, str], body: bytes
) -> tuple[HttpResponse, str | None]:
    request = f"{method} {_path(url)}"
    try:
        async with client.stream(method, url, headers=_with_length(headers, body), content=body) as response:
            content = bytearray()
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > MAX_BODY_BYTES:
                    raise user_error(
                        make_reason("http.too_large", request=request, limit=MAX_BODY_BYTES >> 20), Unclear
                    )
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError) as error:
        raise user_error(make_reason("http.unreachable", error=_text(error)), NotSent) from error
    except (httpx2.RequestError, httpx2.StreamError) as error:
        raise user_error(make_reason("http.failed", request=request, error=_text(error)), Unclear) from error
    except httpx2.InvalidURL as error:
        raise user_error(make_reason("http.bad_url", error=str(error)), Transient) from error
    answer = HttpResponse(response.status_code, {k.lower(): v for k, v in response.headers.items()}, bytes(content))
    location = answer.headers.get("location")
    if answer.status not in _REDIRECTS or not location:
        return answer, None
    return answer, _join(response.url, location)


async def event_data(client: AsyncClient, url: str) -> AsyncIterator[str]:
    """The data of each `message` of an event stream (WHATWG HTML, *Server-sent events*), until the stream ends.

    Raises NotSent or Unclear for network problems and 5xx, and UserError where the server has no such stream."""
    try:
        async with client.stream("GET", url, headers={"accept": "text/event-stream"}) as response:
            if response.status_code >= 500:
                raise user_error(make_reason("http.no_stream", status=response.status_code), Unclear)
            if response.status_code != 200:
                raise user_error(make_reason("http.no_stream", status=response.status_code))
            async for event in httpx2.EventSource(response, max_event_size=MAX_BODY_BYTES):
                if event.event == "message" and event.data:
                    yield event.data
    except httpx2.SSEError as error:
        raise user_error(make_reason("http.no_stream", status=200)) from error
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError) as error:
        raise user_error(make_reason("http.unreachable", error=_text(error)), NotSent) from error
    except (httpx2.RequestError, httpx2.StreamError) as error:
        raise user_error(
            make_reason("http.failed", request=f"GET {_path(url)}", error=_text(error)), Unclear
        ) from error


def _with_length(headers: Mapping[str, str], body: bytes) -> dict[str, str]:
    others = {name: value for name, value in headers.items() if name.lower() != "content-length"}
    return others | {"content-length": str(len(body))}


def _join(base: httpx2.URL, location: str) -> str:
    try:
        return str(base.join(location))
    except httpx2.InvalidURL:
        raise user_error(make_reason("http.bad_redirect", path=base.path), Transient) from None


def _text(error: Exception) -> str:
    return str(error) or type(error).__name__


def _path(url: str) -> str:
    """The path of a URL for a message, without the query, which may hold secrets."""
    return re.sub(r"^[a-z]+://[^/]*", "", url.partition("?")[0]) or "/"
