"""The front door of the zip: the two functions, each importing its own clients only when it is first called.

It stands at the root because functions-framework puts only the source file's own folder on `sys.path`.
"""

import flask
import functions_framework
from flask.typing import ResponseReturnValue


@functions_framework.http
def plan(request: flask.Request) -> ResponseReturnValue:
    """One tick of Cloud Scheduler: POST, any body → 200 and a JSON summary, or 503."""
    from functions.planner.main import answer  # noqa: PLC0415 - a cold drainer must not pay for the planner

    return answer(request)


@functions_framework.http
def drain(request: flask.Request) -> ResponseReturnValue:
    """One Pub/Sub push: 204 when there is nothing more to do for this message, 503 when it should come again."""
    from functions.drainer.main import answer  # noqa: PLC0415 - a cold planner must not pay for the drainer

    return answer(request)
