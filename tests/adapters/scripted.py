"""An HTTP server on loopback that says what a test scripted, and remembers what it was asked."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Say:
    """One scripted answer; `silent` never answers, until the server ends."""

    code: int = 200
    body: Any = field(default_factory=dict)
    silent: bool = False


class Script:
    """Answers in order; a request beyond the script is answered 500."""

    def __init__(self, over: threading.Event) -> None:
        self.address = ""
        self.asked: list[Asked] = []
        self._answers: list[Say] = []
        self._over = over

    def says(self, *answers: Say) -> None:
        self._answers.extend(answers)

    def answer(self, asked: Asked) -> Say:
        self.asked.append(asked)
        said = self._answers.pop(0) if self._answers else Say(500, status(500, "beyond the script"))
        if said.silent:
            self._over.wait()
        return said

    @property
    def calls(self) -> list[tuple[str, str]]:
        return [(each.method, each.path) for each in self.asked]


def status(code: int, message: str, *, reason: str = "", cause: tuple[str, str] | None = None) -> dict[str, Any]:
    """A Status as the API server writes it."""
    causes = [{"reason": cause[0], "message": cause[1]}] if cause else []
    return {"kind": "Status", "code": code, "message": message, "reason": reason, "details": {"causes": causes}}


@contextmanager
def scripted() -> Iterator[Script]:
    over = threading.Event()
    script = Script(over)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(script))
    script.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield script
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()


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
            if said.silent:
                self.close_connection = True
                return
            data = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
            self.send_response(said.code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815 - the standard library's names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
            del format, args

    return Handler
