"""What Ebb remembers of demand: the peak of the last half day to day, and how far it has fallen since."""

from datetime import timedelta
from typing import Any

import pytest

from shared.core.planning.candidates import with_demand
from shared.core.records.state import ClusterState, KnownDemand
from shared.core.rules.situation import Situation
from tests.builders import NOW, cluster, node, pod, policy

HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("expected", "later"),
    [
        pytest.param(0, [(1, 900)], id="it has risen"),
        pytest.param(300, [(1, 500)], id="within the half day"),
        pytest.param(300, [(1, 500), (13, 500)], id="in the half day after"),
        pytest.param(0, [(1, 500), (13, 500), (26, 500)], id="the peak is forgotten a day later"),
        pytest.param(0, [(30, 500)], id="nobody has looked for a day"),
        pytest.param(100, [(1, 600), (2, 900), (3, 800)], id="since a higher peak"),
    ],
)
def test_demand_has_fallen_since_its_peak(expected: int, later: list[tuple[int, int]]) -> None:
    demand = KnownDemand(800, NOW, 800)
    for hours, cpu in later:
        demand = demand.followed_by(cpu, NOW + hours * HOUR)
    assert demand.fallen == expected


@pytest.mark.parametrize(
    ("expected", "changes"),
    [
        pytest.param(1500, {}, id="a pod that runs"),
        pytest.param(1500, {"on": ""}, id="one that waits for a node"),
        pytest.param(500, {"owner": "DaemonSet/d"}, id="what goes with its node is none"),
        pytest.param(500, {"deleting": NOW}, id="nor is what is ending: its replacement counts"),
    ],
)
def test_demand_is_what_pods_ask_for(expected: int, changes: dict[str, Any]) -> None:
    pods = [pod("a", on="n1", cpu=0.5), pod("b", **{"on": "n1", "cpu": 1, **changes})]
    found = with_demand(Situation(cluster([node("n1")], pods), ClusterState(), policy()))
    assert found.state.demand == KnownDemand(expected, found.now, expected)
