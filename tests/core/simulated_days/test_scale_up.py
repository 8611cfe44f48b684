"""Which machines a simulated autoscaler buys for pods that wait."""

from typing import Any

import pytest

from shared.adapters.prices import load
from shared.core.cluster.node import NodePool
from shared.core.simulated_days.controllers import NodeTemplates
from shared.core.simulated_days.scale_up import ScaleUp
from shared.core.simulated_days.settings import DELAYS
from shared.core.simulated_days.world import World
from tests.builders import NOW, cluster, node, pod

DEAR: dict[str, Any] = {"pool": "a", "machine": "n2-standard-4"}
CHEAP: dict[str, Any] = {"pool": "b", "machine": "e2-standard-4"}


def bought(*pods: Any, **pools: NodePool) -> list[str]:
    """The pools of the machines that are bought for the pods, beside a full node of each pool."""
    nodes = [node("n1", **DEAR), node("n2", **CHEAP)]
    full = [pod(f"full{each.name}", on=each.name, cpu=3.9) for each in nodes]
    seen = cluster(nodes, [*full, *pods], pools={"a": NodePool("a"), "b": NodePool("b"), **pools})
    world = World(seen, load(), DELAYS, NOW)
    ScaleUp(world, NodeTemplates(seen)).step()
    return [pool for _, pool in world.measures.bought]


WAITS: dict[str, Any] = {"unschedulable_since": NOW}
DAEMON = pod("daemon", on="n2", owner="DaemonSet/agent", cpu=0.05)


@pytest.mark.parametrize(
    ("expected", "pods", "pools"),
    [
        pytest.param(["b"], [pod("p", cpu=2, **WAITS)], {}, id="of the cheapest pool"),
        pytest.param(["a"], [pod("p", cpu=2, **WAITS)], {"b": NodePool("b", autoscaled=False)}, id="that may grow"),
        pytest.param(["b"], [pod(f"p{n}", cpu=2, **WAITS) for n in (1, 2)], {}, id="one for as many as it takes"),
        pytest.param([], [pod("p", cpu=5, **WAITS)], {}, id="none for what no machine takes"),
        pytest.param(["a"], [DAEMON, pod("p", cpu=3.97, **WAITS)], {}, id="where the pods of DaemonSets leave it room"),
    ],
)
def test_a_machine_is_bought(expected: list[str], pods: list[Any], pools: dict[str, NodePool]) -> None:
    assert bought(*pods, **pools) == expected
