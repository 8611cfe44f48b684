"""The benches of quality: what they compare, and that a simulated day heeds deletion costs."""

from collections.abc import Mapping
from datetime import timedelta

import pytest
from msgspec import structs

from functions.cli.analysis.simulated_days.pod_lives import ReplicaControl
from functions.cli.analysis.simulated_days.world import DELAYS, World
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.pod import Pod
from tests.bench.clusters.generated import BenchCluster, generated
from tests.bench.clusters.judging import faults
from tests.bench.clusters.placing import BenchNode
from tests.bench.clusters.workloads import BenchWorkload, Mix
from tests.bench.quality import GOALS, measured
from tests.builders import NOW, cluster, node, pod, pod_class


@pytest.mark.parametrize("mix", list(GOALS))
def test_what_is_found_breaks_no_rule_and_does_not_beat_the_bound(mix: Mix) -> None:
    found = measured(generated(30, mix))
    assert found.freed
    assert bool(found.pinned) is (mix is Mix.MIXED)


NODES = [BenchNode(name, "p", "e2-standard-4", zone, 1000, 1000) for name, zone in (("a", "x"), ("b", "x"), ("c", "y"))]


def small(**rules: object) -> BenchCluster:
    """Two pods of one workload, on nodes a and c."""
    plain: Mapping[str, object] = {"name": "w", "replicas": 2, "cpu": 400, "memory": 400, **rules}
    return BenchCluster(NODES, [BenchWorkload(**plain)], {"w": (0, 2)})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "rules", "target"),
    [
        pytest.param([], {}, "c", id="room for both"),
        pytest.param(["c holds 1200 cpu"], {"cpu": 600}, "c", id="too much CPU"),
        pytest.param(["c holds 1200 memory"], {"memory": 600}, "c", id="too much memory"),
        pytest.param(["2 pods of apart w on c"], {"apart": "w"}, "c", id="they keep apart"),
        pytest.param(["2 pods of port 80 on c"], {"port": 80}, "c", id="they take one port"),
        pytest.param(["w has 2 pods on one host"], {"host_skew": 1}, "c", id="they spread over hosts"),
        pytest.param(["w lies {'y': 2}"], {"zone_skew": 1}, "c", id="they spread over zones"),
        pytest.param(["default/w-0 left the zone of its disk"], {"disk": True}, "c", id="its disk stays"),
        pytest.param([], {"apart": "w", "zone_skew": 1, "host_skew": 1, "disk": True, "port": 80}, "b", id="all kept"),
        pytest.param(["default/w-0 lies on a, which is drained"], {}, "a", id="left behind"),
    ],
)
def test_the_judge_names_each_rule_that_is_broken(said: list[str], rules: dict[str, object], target: str) -> None:
    assert faults(small(**rules), {"default/w-0": target}, {"a"}) == said


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
