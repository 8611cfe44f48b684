"""What the autoscaler reaches by itself, and that it comes to rest there."""

from typing import Any

import pytest

from infra.local.scenario import parse
from infra.local.simulated_gke import RestingCluster, leave_alone

SCENARIO = """
profile: {profile}
pools: [{{name: web, count: 6, zones: [z], autoscaling: {{minNodeCount: {least}}}}}]
workloads:
  - {{name: app, replicas: 6, requests: {{cpu: "{cpu}", memory: 1Gi}}, nodes: [web/0-5]}}
  - {{name: keeper, replicas: 6, requests: {{cpu: "1", memory: 1Gi}}, nodes: [web/0-5]}}
"""


def rest(profile: str = "BALANCED", cpu: str = "500m", least: int = 0) -> RestingCluster:
    return leave_alone(parse(SCENARIO.format(profile=profile, cpu=cpu, least=least)))


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
    restless = leave_alone(parse(SCENARIO.format(profile="BALANCED", cpu="500m", least=0)), most=30)
    assert (restless.is_rest, restless.seconds, restless.evictions) == (False, 30, 0)
