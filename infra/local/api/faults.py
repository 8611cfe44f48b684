"""Faults on request: what a test sets so that the next requests fail in a chosen way.

Nothing fails by chance here; a simulator rolls its own seeded dice and adds faults one by one.
"""

import re
from dataclasses import dataclass, field, replace
from enum import StrEnum

from infra.local.http_messages import Handler, HttpAnswer, HttpRequest, answer_json


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


def _default_body(status: int) -> object:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f"fault injected with status {status}",
        "reason": "InternalError",
        "code": status,
    }


@dataclass
class InjectedFaults:
    """The faults that are set; the first that matches strikes."""

    rules: list[InjectedFault] = field(default_factory=list)

    def add(self, fault: InjectedFault) -> None:
        self.rules.append(fault)

    def clear(self) -> None:
        self.rules.clear()

    def answer_or_fail(self, request: HttpRequest, handler: Handler) -> HttpAnswer:
        """The handler's answer, or what a fault makes of it."""
        fault = next((rule for rule in self.rules if rule.strikes(request)), None)
        if fault is None:
            return handler(request)
        if fault.times is not None:
            fault.times -= 1
        if fault.mode is Mode.ANSWER:
            body = fault.body if fault.body is not None else _default_body(fault.status)
            return answer_json(fault.status, body, fault.headers)
        if fault.mode is Mode.DROP:
            return replace(handler(request), lost=True)
        return HttpAnswer(504, lost=True, hangs=True)
