"""A threaded HTTP server on a free loopback port."""

import select
import socket
import threading
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack
from typing import Any
from urllib.parse import urlsplit
from wsgiref.types import StartResponse, WSGIEnvironment

from werkzeug import Request as WsgiRequest
from werkzeug import Response as WsgiResponse
from werkzeug.serving import WSGIRequestHandler, make_server

from infra.local.http_messages import Handler, HttpAnswer, HttpRequest

HOST = "127.0.0.1"
HANG_SECONDS = 120.0
"""How long a request that must time out is kept waiting, if its caller does not give up before."""
_HOP = frozenset({"content-length", "connection"})


class _Quiet(WSGIRequestHandler):
    """Writes no access log: the record has every request."""

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - the name is werkzeug's
        """Say nothing."""


def _wait_until_closed(connection: socket.socket) -> None:
    select.select([connection], [], [], HANG_SECONDS)


def _break(environ: WSGIEnvironment, answer: HttpAnswer) -> None:
    connection: socket.socket = environ["werkzeug.socket"]
    if answer.hangs:
        _wait_until_closed(connection)
    raise ConnectionError("an injected fault lost this answer")


def request_of(environ: WSGIEnvironment) -> HttpRequest:
    """The request that a WSGI server hands over."""
    wsgi = WsgiRequest(environ)
    headers = {name.lower(): value for name, value in wsgi.headers.items()}
    path = urlsplit(environ["REQUEST_URI"]).path  # undecoded: an object's name may hold a slash
    return HttpRequest(wsgi.method, path, wsgi.args.to_dict(), headers, wsgi.get_data())


def application(handler: Handler, lock: AbstractContextManager[Any]) -> Callable[..., Iterable[bytes]]:
    """A WSGI application around a handler, which runs under the lock."""

    def serve(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request = request_of(environ)
        with lock:
            answer = handler(request)
        if answer.lost:
            _break(environ, answer)
        headers = {name: value for name, value in answer.headers.items() if name.lower() not in _HOP}
        return WsgiResponse(answer.body, answer.status, headers)(environ, start_response)

    return serve


class HttpServer:
    """One handler on one port (0: any free one), from `start` to `stop`."""

    def __init__(self, handler: Handler, lock: AbstractContextManager[Any], port: int = 0) -> None:
        self._server = make_server(HOST, port, application(handler, lock), threaded=True, request_handler=_Quiet)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_port)

    @property
    def base(self) -> str:
        return f"http://{HOST}:{self.port}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join(timeout=5)
        self._server.server_close()


def free_ports(count: int) -> list[int]:
    """Return `count` different loopback TCP ports that nobody listens on now.

    The kernel picks them at random from its ephemeral range, so two programs that ask at the same moment hardly
    ever get the same ones.
    """
    with ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]
