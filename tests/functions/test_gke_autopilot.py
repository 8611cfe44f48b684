"""Autopilot: its nodes are Google's. Both functions refuse it with a sentence, and do nothing."""

import sys
from pathlib import Path
from typing import Any

import pytest
from functions_framework import create_app

from functions.drainer.main import PushReply
from shared.errors import Terminal
from tests.adapters.scripted import Say, scripted
from tests.builders import CLUSTER, node, order
from tests.functions.fake_ebb import FakeEbb
from tests.functions.test_entry_points import ROOT, outside

SENTENCE = f"{CLUSTER} is an Autopilot cluster: its nodes are Google's, which consolidates them itself"
AUTOPILOT = {"name": "c", "autopilot": {"enabled": True}}


def answered(target: str, body: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Post once to a function whose GKE API reports an Autopilot cluster."""
    with scripted() as gke:
        gke.says(Say(body=AUTOPILOT))
        for name, value in {**outside(tmp_path), "EBB_GKE_API": gke.address}.items():
            monkeypatch.setenv(name, value)
        app = create_app(target, str(ROOT / "main.py"))  # type: ignore[no-untyped-call]  # it publishes no types
        try:
            return app.test_client().post("/", json=body)
        finally:
            sys.modules.pop("main", None)


def test_a_pass_over_an_autopilot_cluster_is_a_500_with_the_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = answered("plan", {}, tmp_path, monkeypatch)

    assert answer.status_code == 500
    assert SENTENCE in answer.get_json()["error"]
    assert f"The pass cannot run: {SENTENCE}" in capsys.readouterr().out


def test_an_order_for_a_node_of_an_autopilot_cluster_touches_nothing_and_shows_why() -> None:
    ebb = FakeEbb(node("n1"), node("n2"))
    ebb.pools.failure = Terminal(f"{CLUSTER} is an Autopilot cluster", "its nodes are Google's")

    assert ebb.drain(order()) is PushReply.AGAIN

    assert (ebb.effects(), ebb.remembered().claims) == ([], {})
    (line,) = [line for line in ebb.log.of("drain_step") if line["severity"] == "ERROR"]
    assert "is an Autopilot cluster" in line["message"]
