"""In a simulated day a steered scale-in leaves fewer pods to be moved, and what people wrote still comes first."""

from datetime import timedelta

from msgspec import structs

from functions.cli.analysis.simulated_days.pod_lives import ReplicaControl
from functions.cli.analysis.simulated_days.world import DELAYS, World
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.pod import Pod
from tests.bench.steering import SHAPES, Shape, night
from tests.builders import NOW, cluster, node, pod, pod_class

WEB = pod_class(owner="ReplicaSet/web", cpu=1)


def test_fewer_pods_are_moved_for_each_node() -> None:
    plain, steered = (night(Shape(40), seed=0, steers=steers).seen for steers in (False, True))
    assert plain.writes == 0 < steered.writes
    assert steered.evictions.total() / steered.removed < 0.9 * plain.evictions.total() / plain.removed


def test_where_nothing_is_scaled_in_nothing_changes() -> None:
    plain, steered = (night(SHAPES["none scaled in"], seed=0, steers=steers) for steers in (False, True))
    assert (plain.seen.evictions, plain.node_hours) == (steered.seen.evictions, steered.node_hours)


def given_up(*pods: Pod) -> set[str]:
    world = World(cluster([node("n1"), node("n2")], pods), load(), DELAYS, NOW + timedelta(minutes=1))
    ReplicaControl(world).scale(WEB.workload, len(pods) - 1)
    return {each.name for each in world.pods.values() if each.deleting}


def test_a_replica_set_of_a_simulated_day_heeds_costs() -> None:
    pods = [pod(f"w{index}", on="n1" if index < 3 else "n2", kind=WEB) for index in range(4)]
    dear = pod_class(owner="ReplicaSet/web", cpu=1, annotations={names.DELETION_COST: "-5000"})

    assert given_up(*pods[:3], structs.replace(pods[3], steered="-1")) == {"w3"}
    assert given_up(pod("w0", on="n1", kind=dear), *pods[1:3], structs.replace(pods[3], steered="-1")) == {"w0"}
