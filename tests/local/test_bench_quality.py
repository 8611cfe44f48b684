"""The benches of quality: what they compare, and that a simulated day heeds deletion costs."""

from datetime import timedelta

import pytest
from msgspec import structs

from functions.cli.analysis.simulated_days.pod_lives import ReplicaControl
from functions.cli.analysis.simulated_days.world import DELAYS, World
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.pod import Pod
from tests.bench.clusters.generated import generated
from tests.bench.clusters.workloads import Mix
from tests.bench.quality import GOALS, measured
from tests.builders import NOW, cluster, node, pod, pod_class


@pytest.mark.parametrize("mix", list(GOALS))
def test_what_is_found_breaks_no_rule_and_does_not_beat_the_bound(mix: Mix) -> None:
    found = measured(generated(30, mix))
    assert found.freed
    assert bool(found.pinned) is (mix is Mix.MIXED)


WEB = pod_class(owner="ReplicaSet/web", cpu=1)


def given_up(*pods: Pod) -> set[str]:
    world = World(cluster([node("n1"), node("n2")], pods), load(), DELAYS, NOW + timedelta(minutes=1))
    ReplicaControl(world).scale(WEB.workload, len(pods) - 1)
    return {pod.name for pod in world.pods.values() if pod.deleting}


def test_a_replica_set_of_a_simulated_day_heeds_costs() -> None:
    pods = [pod(f"w{index}", on="n1" if index < 3 else "n2", kind=WEB) for index in range(4)]
    dear = pod_class(owner="ReplicaSet/web", cpu=1, annotations={names.DELETION_COST: "-5000"})

    assert given_up(*pods[:3], structs.replace(pods[3], steered="-1")) == {"w3"}
    assert given_up(pod("w0", on="n1", kind=dear), *pods[1:3], structs.replace(pods[3], steered="-1")) == {"w0"}
