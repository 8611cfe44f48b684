"""The functions as processes with LOG_EXECUTION_ID, which the platform sets for every one.

What Ebb writes functions-framework reads anew and writes with the request's id, in two pieces, in the request's thread.
"""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import requests

from infra.local.bound_process import ROOT, Child, free_ports, listens
from tests.builders import CLUSTER
from tests.functions.test_entry_points import outside

FIELD = "logging.googleapis.com"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLS = {"plan": 1, "drain": 60}
"""At once, as the platform lets them in."""


@pytest.fixture(params=["plan", "drain"])
def function(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Child, int]]:
    (port,) = free_ports(1)
    command = ["-m", "functions_framework", "--target", request.param, "--source", str(ROOT / "main.py")]
    environment = {**outside(tmp_path), "LOG_EXECUTION_ID": "true", "THREADS": "20"}
    child = Child(request.param, [*command, "--port", str(port)], tmp_path, environment)
    try:
        child.wait_until(partial(listens, port), f"it did not listen on port {port}")
        yield f"http://127.0.0.1:{port}/", child, CALLS[request.param]
    finally:
        child.close(0)  # a server does not end with its input


def test_each_line_is_one_entry_with_the_id_of_its_request(function: tuple[str, Child, int]) -> None:
    address, child, calls = function
    with ThreadPoolExecutor(20) as pool:
        list(pool.map(lambda number: _call(address, number), range(calls)))
    lines = [json.loads(line) for line in child.out.read_text().splitlines()]
    ours = [line for line in lines if f"{FIELD}/labels" in line and "event" in line[f"{FIELD}/labels"]]

    assert len(ours) == len(lines)
    assert {_label(line, "execution_id") for line in ours} == {f"call-{number}" for number in range(calls)}
    for line in ours:
        assert _label(line, "cluster") == CLUSTER
        assert (line[f"{FIELD}/trace"], line[f"{FIELD}/spanId"]) == (f"projects/p/traces/{TRACE}", "123")


def _call(address: str, number: int) -> None:
    headers = {"X-Cloud-Trace-Context": f"{TRACE}/123;o=1", "Function-Execution-Id": f"call-{number}"}
    message = {"data": "bm8gb3JkZXI=", "messageId": str(number), "publishTime": "2026-11-20T12:00:00Z"}
    requests.post(address, json={"message": message}, headers=headers, timeout=60)


def _label(line: dict[str, Any], name: str) -> str:
    return str(line[f"{FIELD}/labels"].get(name, ""))
