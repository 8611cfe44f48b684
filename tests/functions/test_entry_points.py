"""The entry points of the zip: settings read once at the start, answers that Scheduler and Pub/Sub understand."""

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from flask import Flask, request
from flask.testing import FlaskClient
from functions_framework import create_app

from functions.drainer import main as drainer_main
from functions.planner import main as planner_main
from infra.local.bound_process import free_ports
from shared.settings import read_settings
from tests.builders import CLUSTER, NOW
from tests.depth import cases

ROOT = Path(__file__).parents[2]
_WORK = {"plan": "tick", "drain": "receive"}
"""What each entry point calls."""


def outside(tmp_path: Path) -> dict[str, str]:
    """An environment in which the cluster and the GKE API do not answer."""
    (port,) = free_ports(1)
    kubeconfig = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "c", "user": {}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
    }
    (tmp_path / "kubeconfig").write_text(json.dumps(kubeconfig), encoding="utf-8")
    (tmp_path / "policy.yaml").write_text("dryRun: true", encoding="utf-8")
    return {
        "EBB_CLUSTER": CLUSTER,
        "EBB_TOPIC": "projects/p/topics/t",
        "EBB_STATE": f"sqlite:{tmp_path / 'state'}",
        "EBB_POLICY": str(tmp_path / "policy.yaml"),
        "EBB_KUBECONFIG": str(tmp_path / "kubeconfig"),
        "EBB_GKE_API": f"http://127.0.0.1:{port}",
        "PUBSUB_EMULATOR_HOST": f"127.0.0.1:{port}",
    }


@pytest.fixture(params=["plan", "drain"])
def target(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def client(target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FlaskClient]:
    for name, value in outside(tmp_path).items():
        monkeypatch.setenv(name, value)
    app = create_app(target, str(ROOT / "main.py"))  # type: ignore[no-untyped-call]  # it publishes no types
    yield app.test_client()
    sys.modules.pop("main", None)


@cases(
    "expected, environment",
    ("no cluster", "EBB_CLUSTER is not set.", {}),
    ("a bad topic", "EBB_TOPIC: 't' is not projects/", {"EBB_CLUSTER": CLUSTER, "EBB_TOPIC": "t"}),
    ("no number of seconds", "EBB_STEP_SECONDS: 'soon'", {"EBB_CLUSTER": CLUSTER, "EBB_STEP_SECONDS": "soon"}),
)
def test_a_bad_variable_stops_the_start_with_a_sentence(expected: str, environment: dict[str, str]) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("EBB_")}

    started = subprocess.run(
        [sys.executable, "-c", "import main"],
        cwd=ROOT,
        env={**clean, **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert started.returncode == 1
    assert expected in started.stderr
    assert not re.search(r"Traceback|--cluster|terraform output|eval ", started.stderr), "who reads a log has no shell"


def test_only_a_post_is_a_call(client: FlaskClient) -> None:
    assert client.get("/").status_code == 405


def test_an_outage_is_a_503_and_the_call_comes_again(client: FlaskClient, target: str) -> None:
    message = {
        "data": base64.b64encode(json.dumps({"node": "n1"}).encode()).decode(),
        "messageId": "1",
        "publishTime": NOW.isoformat(),
    }

    answered = client.post("/", json={} if target == "plan" else {"message": message})

    assert answered.status_code == 503
    assert target == "drain" or "error" in answered.get_json()


def test_an_outage_at_a_cold_start_of_the_drainer_is_no_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It asks the GKE API where the control plane is; Pub/Sub repeats the message, and no alert fires meanwhile."""
    settings = replace(read_settings(outside(tmp_path)), kubeconfig="")

    with Flask(__name__).test_request_context(method="POST"):
        _, status = cast("tuple[str, int]", drainer_main.answer(request, settings))

    (line,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (status, line["severity"], line["logging.googleapis.com/labels"]["reason"]) == (503, "WARNING", "retryable")


def test_what_nobody_foresaw_is_a_500_with_a_line_and_its_traceback(
    client: FlaskClient, target: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object) -> None:
        raise OverflowError("too large")

    monkeypatch.setattr({"plan": planner_main, "drain": drainer_main}[target], _WORK[target], fails)

    assert client.post("/", json={}).status_code == 500

    (line,) = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "unforeseen" in line]
    assert line["severity"] == "ERROR"
    assert "OverflowError: too large" in line["message"]


@pytest.mark.parametrize("target", ["drain"], indirect=True)
@pytest.mark.parametrize("body", [b"", b"not json", b"[" * 100_000, b'{"message": 7}'])
def test_a_body_that_is_no_push_is_acknowledged(client: FlaskClient, body: bytes) -> None:
    assert client.post("/", data=body).status_code == 204
