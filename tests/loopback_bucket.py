"""A bucket on loopback that answers as a test tells it: for what the simulated GKE's bucket will not do."""

import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Self


class LoopbackBucket:
    """One object's media. `data` None is 404; `status` is the answer of the next `faults` requests, 0 of none."""

    def __init__(self) -> None:
        self.data: bytes | None = None
        self.status = 0
        self.faults = 1_000_000
        self.requests: list[tuple[str, str | None]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self) -> tuple[int, bytes]:
        if self.status and self.faults:
            self.faults -= 1
            return self.status, b""
        if self.data is None:
            return 404, b"No such object"
        return (206, self.data) if self.data else (416, b"")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        bucket = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                bucket.requests.append((self.path, self.headers.get("Authorization")))
                status, whole = bucket.answer()
                body = whole[: _most(self.headers.get("Range", ""))] if status == 206 else whole
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                if status == 206:
                    self.send_header("Content-Range", f"bytes 0-{len(body) - 1}/{len(whole)}")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
                """Say nothing."""

        return Handler


def _most(asked: str) -> int | None:
    last = re.fullmatch(r"bytes=0-(\d+)", asked)
    return int(last[1]) + 1 if last else None
