"""A gRPC server on loopback in a Google service's place, for the answers that an emulator never gives."""

from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

import grpc

STREAMS = ("BatchGetDocuments", "RunQuery")
SECONDS = 30.0


class GrpcStandIn(grpc.GenericRpcHandler):  # type: ignore[misc]  # same
    """Says `status` to every call; without one, passes calls on to `behind`.

    Of the next `lost_answers` calls that change something, the answer is lost after it took effect.
    """

    def __init__(self, *, status: str = "", behind: str = "") -> None:
        self.status = status
        self.lost_answers = 0
        self.calls: list[str] = []
        self._behind = grpc.insecure_channel(behind) if behind else None
        self._threads = ThreadPoolExecutor(4)
        self._server = grpc.server(self._threads, handlers=(self,))
        self.host = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.stop(None).wait(SECONDS)
        self._threads.shutdown()
        if self._behind is not None:
            self._behind.close()

    def service(self, details: Any) -> Any:
        method = details.method
        self.calls.append(method.rsplit("/", 1)[-1])
        if method.endswith(STREAMS):
            return grpc.unary_stream_rpc_method_handler(lambda data, context: self._stream(method, data, context))
        return grpc.unary_unary_rpc_method_handler(lambda data, context: self._unary(method, data, context))

    def _stream(self, method: str, data: bytes, context: Any) -> Any:
        self._refuse(context)
        yield from self._channel.unary_stream(method)(data, timeout=SECONDS, metadata=_passed_on(context))

    def _unary(self, method: str, data: bytes, context: Any) -> bytes:
        self._refuse(context)
        try:
            answer: bytes = self._channel.unary_unary(method)(data, timeout=SECONDS, metadata=_passed_on(context))
        except grpc.RpcError as refusal:
            context.abort(refusal.code(), refusal.details())
        if self.lost_answers:
            self.lost_answers -= 1
            context.abort(grpc.StatusCode.UNAVAILABLE, "the answer was lost")
        return answer

    def _refuse(self, context: Any) -> None:
        if self.status:
            context.abort(grpc.StatusCode[self.status], "says the stand-in")

    @property
    def _channel(self) -> Any:
        assert self._behind is not None, "nothing stands behind this stand-in: give it a status"
        return self._behind


def _passed_on(context: Any) -> list[tuple[str, str]]:
    return [(key, value) for key, value in context.invocation_metadata() if key != "user-agent"]
