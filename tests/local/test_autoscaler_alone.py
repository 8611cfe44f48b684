"""What the autoscaler reaches by itself, and that it comes to rest there."""

import json
from pathlib import Path
from typing import Any

import pytest

from infra.local.__main__ import RestingCluster, alone, main
from infra.local.scenario import parse

SCENARIO = """
profile: {profile}
pools: [{{name: web, count: 6, zones: [z], autoscaling: {{minNodeCount: {least}}}}}]
workloads:
  - {{name: app, replicas: 6, requests: {{cpu: "{cpu}", memory: 1Gi}}, nodes: [web/0-5]}}
  - {{name: keeper, replicas: 6, requests: {{cpu: "1", memory: 1Gi}}, nodes: [web/0-5]}}
"""


def rest(profile: str = "BALANCED", cpu: str = "500m", least: int = 0) -> RestingCluster:
    return alone(parse(SCENARIO.format(profile=profile, cpu=cpu, least=least)))


@pytest.mark.parametrize(
    ("left", "given"),
    [
        pytest.param(3, {}, id="balanced: nodes at 38 % become full or go"),
        pytest.param(6, {"cpu": "1400m"}, id="balanced: nodes at 61 % stay, whatever is free"),
        pytest.param(
            4, {"profile": "OPTIMIZE_UTILIZATION", "cpu": "1400m"}, id="optimize-utilization drains those, too"
        ),
        pytest.param(5, {"least": 5}, id="not below the pool's minimum"),
    ],
)
def test_what_the_autoscaler_reaches_alone(left: int, given: dict[str, Any]) -> None:
    of = rest(**given)
    assert (len(of.nodes), of.is_rest) == (left, True)
    assert len(of.removed) == 6 - left


def test_one_that_never_rests_is_left_after_its_time_and_shows_it() -> None:
    restless = alone(parse(SCENARIO.format(profile="BALANCED", cpu="500m", least=0)), most=30)
    assert (restless.is_rest, restless.seconds, restless.evictions) == (False, 30, 0)


def test_the_command_shows_what_is_left_and_the_gate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(SCENARIO.format(profile="OPTIMIZE_UTILIZATION", cpu="1400m", least=0))
    assert main(["alone", "--scenario", str(path)]) == 0
    assert json.loads(capsys.readouterr().out) == {"nodes": 4, "removed": 2, "evictions": 4, "gate": 0.85}
