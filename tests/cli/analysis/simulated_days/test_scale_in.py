"""Which pod a simulated controller gives up, by the costs that stand on its pods."""

import pytest

from functions.cli.analysis.simulated_days.pod_lives import ReplicaControl
from functions.cli.analysis.simulated_days.world import DELAYS, World
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.pod import Pod
from tests.builders import NOW, cluster, node, pod

WEB = "default/ReplicaSet/web"


def costing(written: str | None = None, mark: str = "") -> Pod:
    """A pod on which people wrote a deletion cost, or that carries Ebb's mark of one."""
    notes = {} if written is None else {names.DELETION_COST: written}
    return pod("b", on="n1", owner="ReplicaSet/web", annotations=notes, steered=mark)


@pytest.mark.parametrize(
    ("expected", "other"),
    [
        pytest.param("a", costing(), id="no cost: the first by name"),
        pytest.param("b", costing(mark="-5"), id="Ebb's"),
        pytest.param("b", costing("-5"), id="its people's"),
        pytest.param("a", costing("7", mark="-5"), id="its people's, written over Ebb's"),
        pytest.param("a", costing("dear", mark="-5"), id="what stands there and cannot be read is none"),
        pytest.param("a", costing(mark="true"), id="a mark from its template, next to no cost"),
        pytest.param("a", costing(mark="7"), id="a mark with its cost from its template, above Ebb's own"),
    ],
)
def test_of_two_pods_the_one_of_the_lower_cost_is_dropped(expected: str, other: Pod) -> None:
    pods = [pod("a", on="n0", owner="ReplicaSet/web"), other]
    world = World(cluster([node("n0"), node("n1")], pods), load(), DELAYS, NOW)

    ReplicaControl(world).scale(WEB, 1)

    assert [each.name for each in world.pods.values() if each.deleting is not None] == [expected]
