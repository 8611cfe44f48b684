"""Faults that a test injects into the simulated API server.

Nothing fails by chance here: a simulator rolls its own seeded dice and adds faults one by one.
"""

import re
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial

from infra.local.api.server import KubeApi
from infra.local.http_messages import Handler, HttpAnswer, HttpRequest, answer_json, status_body


class Mode(StrEnum):
    """How a request fails."""

    ANSWER = "answer"
    """It is answered with the fault's status and has no effect."""
    TIMEOUT = "timeout"
    """It has no effect and no answer comes."""
    DROP = "drop"
    """It takes effect and no answer comes."""


@dataclass
class InjectedFault:
    """`method` and `path` are regular expressions that must match wholly; it strikes `times` requests (None: all)."""

    method: str = ".*"
    path: str = ".*"
    mode: Mode = Mode.ANSWER
    status: int = 500
    body: object = None
    headers: dict[str, str] = field(default_factory=dict)
    times: int | None = 1

    def strikes(self, request: HttpRequest) -> bool:
        live = self.times is None or self.times > 0
        hit = re.fullmatch(self.method, request.method) and re.fullmatch(self.path, request.path)
        return live and hit is not None


def inject(api: KubeApi, fault: InjectedFault) -> None:
    """Let requests fail from now on as the fault says."""
    api.answering = partial(_answer_or_fail, fault, api.answering)


def _answer_or_fail(fault: InjectedFault, handler: Handler, request: HttpRequest) -> HttpAnswer:
    if not fault.strikes(request):
        return handler(request)
    if fault.times is not None:
        fault.times -= 1
    if fault.mode is Mode.DROP:
        return replace(handler(request), lost=True)
    if fault.mode is Mode.TIMEOUT:
        return HttpAnswer(504, lost=True, hangs=True)
    message = f"fault injected with status {fault.status}"
    default = status_body("Failure", fault.status) | {"message": message, "reason": "InternalError"}
    return answer_json(fault.status, default if fault.body is None else fault.body, fault.headers)
