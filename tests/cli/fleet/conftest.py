"""Clusters of a fleet are read in this process, but for a test that asks for workers of its own."""

import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, cast

import pytest

from functions.cli.fleet import compute


class HereAndNow(Executor):
    """Does at once what it is given, sent there and back as between processes."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            called = cast("Callable[[], Any]", _sent(fn))
            future.set_result(_sent(called(*args, **kwargs)))
        except Exception as fault:  # noqa: BLE001 - as a process answers
            future.set_exception(fault)
        return future


def _sent(thing: object) -> object:
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - our own


@pytest.fixture(autouse=True)
def in_this_process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.node.get_closest_marker("workers") is None:
        monkeypatch.setattr(compute, "new_processes", lambda _: HereAndNow())
