from __future__ import annotations

import asyncio
from collections.abc import Callable

import httpx2
import pytest

from bot.errors import ConfigError, Transient, UserError
from bot.http import HttpResponse, NotSent, Unclear, check_api_url, open_client, send
from tests.machine import PATIENCE_S, kept_port

API = "https://api.github.com"
Handler = Callable[[httpx2.Request], httpx2.Response]


def ask(
    handler: Handler, method: str = "GET", url: str = API + "/x", body: bytes = b""
) -> tuple[HttpResponse, list[httpx2.Request]]:
    seen: list[httpx2.Request] = []

    def record(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return handler(request)

    async def go() -> HttpResponse:
        async with open_client(API, transport=httpx2.MockTransport(record)) as client:
            return await send(client, method, url, {"authorization": "Bearer t"}, body, PATIENCE_S)

    ask.seen = seen  # type: ignore[attr-defined]
    return asyncio.run(go()), seen


def hosts() -> set[str]:
    return {request.url.host for request in ask.seen}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "url",
    [
        "https://api.github.com",
        "https://ghe.example.com/api/v3/",
        "https://8.8.8.8",
        "http://127.0.0.1:8080",
        "http://[::1]:3000",
        "http://localhost:1",
    ],
)
def test_ordinary_api_urls_and_literal_loopback_are_taken(url: str) -> None:
    assert check_api_url(url, False, lambda _: ["140.82.112.5"]) == url.rstrip("/")


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254",
        "https://169.254.169.254/latest",
        "https://x@evil",
        "https://user:secret@api.github.com",
        "https://2852039166",
        "http://2130706433/",
        "https://0x7f.1",
        "https://0x7f000001",
        "https://127.1",
        "https://0177.0.0.01",
        "https://10.0.0.8",
        "https://192.168.1.1",
        "https://100.64.0.1",
        "https://[fd00:ec2::254]",
        "https://[::ffff:169.254.169.254]",
        "https://[fe80::1]",
        "https://0.0.0.0",
        "http://api.github.com",
        "ftp://api.github.com",
        "file:///etc/passwd",
        "api.github.com",
        "",
        "https://",
        "https://a b/",
        "https://api.github.com/?x=1",
        "https://api.github.com/#x",
        "https://intranet.example",
    ],
)
def test_api_urls_that_lead_elsewhere_are_refused_with_the_setting_named(url: str) -> None:
    with pytest.raises(ConfigError, match="MENDBOT_GITHUB_API_URL") as caught:
        check_api_url(url, False, lambda _: ["10.1.2.3"])
    assert "secret" not in str(caught.value)


def test_private_servers_are_taken_where_the_operator_says_so_but_never_odd_numbers() -> None:
    assert check_api_url("http://10.0.0.8:8080", True) == "http://10.0.0.8:8080"
    assert check_api_url("https://intranet.example", True, lambda _: ["10.1.2.3"]) == "https://intranet.example"
    for url in ("http://2130706433", "https://x@evil", "ftp://10.0.0.8"):
        with pytest.raises(ConfigError):
            check_api_url(url, True)


def test_a_name_that_cannot_be_resolved_now_is_no_reason_to_refuse() -> None:
    assert check_api_url("https://ghe.example.com", False, lambda _: ()) == "https://ghe.example.com"


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/x",
        "http://api.github.com/x",
        "https://api.github.com:444/x",
        "//evil.example/x",
        "https://api.github.com@evil.example/x",
        "https://api.github.com.evil.example/x",
    ],
)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_to_another_origin_is_refused_before_a_byte_is_sent(target: str, status: int) -> None:
    with pytest.raises(UserError, match="outside"):
        ask(lambda request: httpx2.Response(status, headers={"location": target}))
    assert hosts() == {"api.github.com"}
    assert len(ask.seen) == 1  # type: ignore[attr-defined]


def test_an_absolute_url_of_another_origin_is_refused() -> None:
    with pytest.raises(UserError):
        ask(lambda request: httpx2.Response(200), url="https://evil.example/repos")
    assert hosts() == set()


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_within_the_origin_repeats_method_body_and_token(status: int) -> None:
    def moved(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/x":
            return httpx2.Response(status, headers={"location": "/repositories/1/x"})
        return httpx2.Response(201, content=request.content)

    answer, seen = ask(moved, "POST", body=b'{"a": 1}')
    assert (answer.status, answer.body) == (201, b'{"a": 1}')
    assert [request.method for request in seen] == ["POST", "POST"]
    assert seen[1].headers["authorization"] == "Bearer t"


def test_endless_redirects_end() -> None:
    with pytest.raises(Transient, match="redirects"):
        ask(lambda request: httpx2.Response(302, headers={"location": "/x"}))
    assert len(ask.seen) == 6  # type: ignore[attr-defined]


def test_a_redirect_to_nonsense_is_transient() -> None:
    with pytest.raises(Transient):
        ask(lambda request: httpx2.Response(302, headers={"location": "https://[zz]/"}))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (httpx2.ConnectError("refused"), NotSent),
        (httpx2.ConnectTimeout("slow"), NotSent),
        (httpx2.PoolTimeout("full"), NotSent),
        (httpx2.ReadTimeout("slow"), Unclear),
        (httpx2.RemoteProtocolError("hung up"), Unclear),
        (httpx2.WriteError("broken pipe"), Unclear),
    ],
)
def test_network_trouble_says_whether_the_request_may_have_arrived(error: Exception, kind: type[Transient]) -> None:
    def broken(request: httpx2.Request) -> httpx2.Response:
        raise error

    with pytest.raises(kind):
        ask(broken)


async def test_a_server_that_never_answers_is_left_after_the_whole_time() -> None:
    class Stuck(httpx2.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            await asyncio.Event().wait()
            raise AssertionError

    async def go() -> None:
        async with open_client(API, transport=Stuck()) as client:
            await send(client, "GET", API, {}, b"", 0.05)

    with pytest.raises(Unclear, match="within"):
        await go()


async def test_a_real_refused_connection_on_loopback_is_not_sent() -> None:
    async def go(port: int) -> None:
        async with open_client(f"http://127.0.0.1:{port}") as client:
            with pytest.raises(NotSent, match="cannot be reached"):
                await send(client, "POST", f"http://127.0.0.1:{port}/x", {}, b"{}")

    await go(kept_port())


async def test_a_real_exchange_over_a_socket_carries_method_headers_and_body() -> None:
    received: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        received.append(head + await reader.readexactly(2))
        writer.write(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\nDate: X\r\n\r\n{}")
        await writer.drain()
        writer.close()

    async def go() -> HttpResponse:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            async with open_client(url) as client:
                return await send(client, "POST", url + "/a%2Fb?c=d", {"authorization": "Bearer t"}, b"[]")

    answer = await go()
    assert (answer.status, answer.body, answer.headers["date"]) == (201, b"{}", "X")
    assert received[0].startswith(b"POST /a%2Fb?c=d HTTP/1.1\r\n")
    assert b"bearer t" in received[0].lower()
    assert received[0].lower().count(b"content-length: 2") == 1
    assert received[0].endswith(b"[]")
