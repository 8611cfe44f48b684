"""An HTTP server on loopback that says what a test scripted and remembers what it was asked, and ways into it."""

import json
import socket
import ssl
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from kubernetes.client import Configuration

from shared.adapters.kubernetes.access import Access, Bearer
from shared.adapters.kubernetes.client import REPEATS
from shared.errors import EbbError, Retryable


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Say:
    """One scripted answer; `silent` never answers, until the server ends; `reset` breaks the connection instead."""

    code: int = 200
    body: Any = field(default_factory=dict)
    silent: bool = False
    reset: bool = False
    retry_after: str = ""

    @property
    def lasting(self) -> "tuple[Say, ...]":
        """The same answer to the request and to every repetition of it."""
        return (self,) * (1 + REPEATS)


def status(code: int, message: str, *, reason: str = "", cause: tuple[str, str] | None = None) -> dict[str, Any]:
    """A Status as the API server writes it."""
    causes = [{"reason": cause[0], "message": cause[1]}] if cause else []
    return {"kind": "Status", "code": code, "message": message, "reason": reason, "details": {"causes": causes}}


GROUPS = ("/apis/autoscaling.k8s.io", "/apis/autoscaling.x-k8s.io", "/apis/cloud.google.com")
"""The API groups of which a cluster may have kinds."""
LIMITS = ("/api/v1/limitranges", "/api/v1/resourcequotas")
"""What most namespaces have none of."""
NO_GROUP = Say(404, status(404, "the server could not find the requested resource"))


def _beyond(path: str) -> Say:
    if path in LIMITS:
        return Say(body={"items": []})
    return NO_GROUP if path in GROUPS else Say(500, status(500, "beyond the script"))


class Script:
    """Answers in order; beyond the script there are no optional kinds and no limits; all else is answered 500."""

    def __init__(self, over: threading.Event) -> None:
        self.address = ""
        self.asked: list[Asked] = []
        self._answers: list[Say] = []
        self._over = over

    def says(self, *answers: Say) -> None:
        self._answers.extend(answers)

    def answer(self, asked: Asked) -> Say:
        self.asked.append(asked)
        said = self._answers.pop(0) if self._answers else _beyond(asked.path)
        if said.silent:
            self._over.wait()
        return said

    @property
    def calls(self) -> list[tuple[str, str]]:
        return [(asked.method, asked.path) for asked in self.asked]


@contextmanager
def scripted(tls: ssl.SSLContext | None = None) -> Iterator[Script]:
    """A server for as long as the test needs it; with `tls` it speaks https."""
    over = threading.Event()
    script = Script(over)
    server = _Server(("127.0.0.1", 0), _handler(script))
    if tls is not None:  # the handshake is the handler's: one that fails must not hold up the others
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    script.address = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield script
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    """Ends its open connections with itself, as a control plane that is no more does."""

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.open: list[socket.socket] = []

    def finish_request(self, request: Any, client_address: Any) -> None:
        self.open.append(request)
        super().finish_request(request, client_address)

    def server_close(self) -> None:
        for connection in self.open:
            with suppress(OSError):  # it has ended by itself
                connection.shutdown(socket.SHUT_RDWR)
        super().server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a handshake that the client broke off."""


def _handler(script: Script) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            said = script.answer(
                Asked(
                    self.command,
                    parts.path,
                    dict(parse_qsl(parts.query)),
                    {name.lower(): value for name, value in self.headers.items()},
                    json.loads(raw) if raw else None,
                )
            )
            if said.silent or said.reset:
                self.close_connection = True
                if said.reset:  # an end without the closing handshake: the client reads a reset
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            data = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
            self.send_response(said.code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            if said.retry_after:
                self.send_header("Retry-After", said.retry_after)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815 - the standard library's names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
            del format, args

    return Handler


def access_to(address: str) -> Access:
    return Access(Configuration(host=address), Bearer(lambda: ("", None)))


def document(name: str = "c", **parts: Any) -> dict[str, Any]:
    """A kubeconfig with one context, whose cluster is on a host of its name; parts are its and the user's."""
    return {
        "current-context": name,
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "clusters": [{"name": name, "cluster": {"server": f"http://{name}.example", **parts}}],
        "users": [{"name": name, "user": parts}],
    }


def kubeconfig(folder: Path, name: str = "c", **parts: Any) -> Path:
    """Write a kubeconfig (JSON is YAML) as `document` has it."""
    folder.mkdir(exist_ok=True)
    path = folder / "kubeconfig"
    path.write_text(json.dumps(document(name, **parts)))
    return path


def no_wait(seconds: float) -> None:
    """Wait no time before a request is repeated."""
    del seconds


def patience(expected: type[EbbError]) -> float:
    """A failure that may pass is asked for until the time is over, so it is short; a final one may come late."""
    return 0.5 if issubclass(expected, Retryable) else 60.0
