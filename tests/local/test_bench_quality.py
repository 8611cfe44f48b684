"""The benches of quality: what they compare, and that a simulated day heeds deletion costs."""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec import structs

from functions.cli.analysis.simulated_days.pod_lives import ReplicaControl
from functions.cli.analysis.simulated_days.world import DELAYS, World
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.pod import Pod
from tests.bench.clusters.api import snapshot
from tests.bench.clusters.generated import BenchCluster, generated
from tests.bench.clusters.judging import faults
from tests.bench.clusters.placing import BenchNode
from tests.bench.clusters.workloads import BenchWorkload, Mix
from tests.bench.kept_by_placement import MEASURES, freed
from tests.bench.quality import GOALS, measured
from tests.bench.scale.report import write
from tests.bench.scale.whole_pass import whole_pass
from tests.builders import NOW, cluster, node, pod, pod_class


@pytest.mark.parametrize("mix", list(GOALS))
def test_the_snapshot_has_all_nodes_and_pods_where_they_were_placed(mix: Mix) -> None:
    cluster = generated(60, mix)
    picture = snapshot(cluster)
    lying = {pod.key: pod.node for pod in picture.pods if pod.spec.namespace == "default"}
    assert lying == {f"default/{name}-{number}": cluster.nodes[place].name
                     for name, places in cluster.places.items() for number, place in enumerate(places)}  # fmt: skip
    assert [node.name for node in picture.nodes] == sorted(node.name for node in cluster.nodes)
    daemons = Counter(pod.node for pod in picture.pods if pod.spec.namespace == "kube-system")
    assert daemons == Counter({node.name: 1 for node in cluster.nodes})
    assert bool(picture.disruption_budgets) is (mix is Mix.MIXED)


def test_an_empty_cluster_is_one_empty_page() -> None:
    assert snapshot(generated(3, Mix.PLAIN, pods_a_node=0.4)).pods


@pytest.mark.parametrize("mix", list(GOALS))
def test_what_is_found_breaks_no_rule_and_does_not_beat_the_bound(mix: Mix) -> None:
    found = measured(generated(30, mix))
    assert found.freed
    assert bool(found.pinned) is (mix is Mix.MIXED)


def test_a_search_is_measured_by_what_it_is_after() -> None:
    found = freed(generated(30, Mix.MIXED))
    assert found.keys() == MEASURES.keys()
    assert found["nodes"].share == found["nodes"].in_nodes
    assert all(name.kept and 0.8 < name.share < 1.001 for name in found.values())


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


@pytest.mark.deep
def test_a_whole_pass_is_measured_and_drawn(tmp_path: Path) -> None:
    runs = {(mix, 20): whole_pass(20, mix, 5) for mix in (Mix.PLAIN, Mix.RICH)}
    write(runs, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cost.png", "quality.png", "scale.json"]
    assert all(found.freed and found.reading and found.planning for found in runs.values())


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
