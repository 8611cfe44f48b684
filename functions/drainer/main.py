"""The drainer's door: one Pub/Sub push in, one step of one drain, an acknowledgement or "come again" out.

Must not hold rules: it translates and nothing else.
"""

import uuid
from dataclasses import replace
from functools import cache

import flask
from flask.typing import ResponseReturnValue
from shared.wiring import drainer_ports, settings_of_environment

from functions.drainer.step import receive
from shared.log import trace_id
from shared.ports import Ports
from shared.settings import Settings


@cache
def _ports(settings: Settings) -> Ports:
    """One set of clients an instance: building them anew for each message would leak connections."""
    return drainer_ports(settings)


def answer(request: flask.Request) -> ResponseReturnValue:
    """Answer one push envelope."""
    if request.method != "POST":
        return {"error": "Send a Pub/Sub push envelope by POST."}, 405
    settings = settings_of_environment()
    ports = _ports(settings)
    traced = replace(ports, log=ports.log.bind(trace=trace_id(request.headers)))
    reply = receive(traced, settings, request.get_json(force=True, silent=True), uuid.uuid4().hex)
    return "", reply.value
