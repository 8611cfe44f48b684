"""Two servers on loopback: HTTP around a handler, and a Pub/Sub publisher (PUBSUB_EMULATOR_HOST) over a broker.

Topics and subscriptions are the scenario's: only publishing is served.
"""

import select
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import urlsplit
from wsgiref.types import StartResponse, WSGIEnvironment

import grpc
from google.pubsub_v1 import types
from werkzeug import Request as WsgiRequest
from werkzeug import Response as WsgiResponse
from werkzeug.serving import WSGIRequestHandler, make_server

from infra.local.broker import Broker, UnknownTopicError
from infra.local.http_messages import Handler, HttpAnswer, HttpRequest

HOST = "127.0.0.1"
HANG_SECONDS = 120.0
"""How long a request that must time out is kept waiting, if its caller does not close it before."""
_HOP = frozenset({"content-length", "connection"})


class _Quiet(WSGIRequestHandler):
    """Writes no access log: the record has every request."""

    def log(self, type: str, message: str, *args: Any) -> None: ...  # noqa: A002 - the name is werkzeug's


def _lose(environ: WSGIEnvironment, answer: HttpAnswer) -> None:
    if answer.hangs:  # until the caller stops trying
        select.select([environ["werkzeug.socket"]], [], [], HANG_SECONDS)
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
            _lose(environ, answer)
        headers = {name: value for name, value in answer.headers.items() if name.lower() not in _HOP}
        return WsgiResponse(answer.body, answer.status, headers)(environ, start_response)

    return serve


class HttpServer:
    """One handler on a free port, from `start` to `stop`."""

    def __init__(self, handler: Handler, lock: AbstractContextManager[Any]) -> None:
        self._server = make_server(HOST, 0, application(handler, lock), threaded=True, request_handler=_Quiet)
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


class PubSubServer:
    """The publisher on one port; every call runs under the lock."""

    def __init__(self, broker: Broker, lock: AbstractContextManager[Any]) -> None:
        self._broker = broker
        self._lock = lock
        self._server = grpc.server(ThreadPoolExecutor(max_workers=4))
        methods = {
            "GetTopic": self._method(self._get_topic, types.GetTopicRequest, types.Topic.serialize),
            "Publish": self._method(self._publish, types.PublishRequest, types.PublishResponse.serialize),
        }
        service = grpc.method_handlers_generic_handler("google.pubsub.v1.Publisher", methods)
        self._server.add_generic_rpc_handlers((service,))
        self.address = f"{HOST}:{self._server.add_insecure_port(f'{HOST}:0')}"

    def start(self) -> None:
        self._server.start()

    def stop(self) -> None:
        self._server.stop(grace=1).wait(timeout=5)

    def _method(self, call: Callable[[Any], Any], request: Any, serializer: Any) -> Any:
        def handle(message: Any, context: grpc.ServicerContext) -> Any:
            try:
                with self._lock:
                    return call(message)
            except UnknownTopicError as error:
                context.abort(grpc.StatusCode.NOT_FOUND, str(error.args[0]))

        return grpc.unary_unary_rpc_method_handler(handle, request.deserialize, serializer)

    def _get_topic(self, request: types.GetTopicRequest) -> types.Topic:
        if request.topic not in self._broker.topics:
            raise UnknownTopicError(f"Resource not found (resource={request.topic}).")
        return types.Topic(name=request.topic)

    def _publish(self, request: types.PublishRequest) -> types.PublishResponse:
        publish, messages = self._broker.publish, request.messages
        ids = [publish(request.topic, message.data, dict(message.attributes)) for message in messages]
        return types.PublishResponse(message_ids=ids)
