"""Runs inside the sandbox, before a command whose network is filtered: `forwarder.py SOCKET COMMAND…`.

It listens on loopback, forwards each connection to the proxy's Unix socket, and becomes the command, which finds the
address in the usual variables. It ends with the sandbox. It imports little, as every agent waits for it."""

# no `from __future__ import annotations`: it would cost a module of its own at each start
import os
import sys
from _socket import AF_UNIX, SHUT_WR, socket  # `socket` itself takes longer to import than all the rest
from _thread import start_new_thread

_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy")
_CHUNK = 64 * 1024


def main(path: str, argv: list[str]) -> None:
    """Starts the forwarder in a process of its own and replaces this one by the command."""
    server = socket()
    server.bind(("127.0.0.1", 0))
    server.listen(128)
    address = f"http://127.0.0.1:{server.getsockname()[1]}"
    if os.fork() == 0:
        _forward(server, path)
    server.close()
    environment = {**os.environ, **dict.fromkeys(_VARIABLES, address)}
    os.execve(argv[0], argv, environment)  # noqa: S606 - the sandbox's own wrapper, an absolute path


def _forward(server: socket, path: str) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for number in range(3):  # the command's output ends with the command
        os.dup2(null, number)
    while True:
        client, proxy = socket(fileno=server._accept()[0]), socket(AF_UNIX)  # type: ignore[attr-defined]
        try:
            proxy.connect(path)
        except OSError:
            client.close()
            continue
        start_new_thread(_copy, (client, proxy))
        start_new_thread(_copy, (proxy, client))


def _copy(source: socket, target: socket) -> None:
    try:
        while chunk := source.recv(_CHUNK):
            target.sendall(chunk)
        target.shutdown(SHUT_WR)
    except OSError:
        pass


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
