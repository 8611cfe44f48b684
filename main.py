"""The entry point of the zip: the two functions, each importing its own clients only when it is first called.

It stands at the root because functions-framework puts only the source file's own folder on `sys.path`. The
environment is read here, once: a bad value stops the start with a sentence.
"""

import os
import sys

import flask
import functions_framework
from flask.typing import ResponseReturnValue

from shared.errors import BadSettings
from shared.settings import Settings, read_settings


def _settings() -> Settings:
    try:
        return read_settings(os.environ)
    except BadSettings as faults:
        sys.exit(f"Ebb cannot start.\n{faults}\nThe Terraform module sets a function's variables: apply it again.")


SETTINGS = _settings()


@functions_framework.http
def plan(request: flask.Request) -> ResponseReturnValue:
    """One tick of Cloud Scheduler: POST, any body → 200 and a JSON summary, or 503."""
    from functions.planner.main import answer

    return answer(request, SETTINGS)


@functions_framework.http
def drain(request: flask.Request) -> ResponseReturnValue:
    """One Pub/Sub push: 204 when there is nothing more to do for this message, 503 when it should come again."""
    from functions.drainer.main import answer

    return answer(request, SETTINGS)
