"""Which node, pod or workload a name means."""

import pytest

from functions.cli.explain.resolve import matches, resolve_name
from shared.core.cluster.workloads import Workload
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.builders import cluster, node, pod, policy


def _situation() -> Situation:
    pods = [
        pod("cart-0", on="gke-a-x7", namespace="shop", owner="ReplicaSet/cart-5d4f"),
        pod("cart-0", on="gke-a-y8", namespace="test", owner="StatefulSet/cart"),
        pod("kube-proxy-gke-a-x7", on="gke-a-x7", namespace="kube-system", owner="Node/gke-a-x7"),
        pod("shell", on="gke-a-y8", namespace="shop", owner="StatefulSet/shell"),
        pod("waits", namespace="shop"),
    ]
    workloads = {"shop/ReplicaSet/cart-5d4f": Workload("shop/Deployment/cart")}
    picture = cluster([node("gke-a-x7"), node("gke-a-y8")], pods, workloads=workloads)
    return Situation(picture, ClusterState(), policy())


@pytest.mark.parametrize(
    ("expected", "word"),
    [
        pytest.param(["gke-a-x7"], "gke-a-x7", id="a node"),
        pytest.param(["gke-a-x7"], "x7", id="a node's end, although a static pod ends with it"),
        pytest.param(["shop/cart-0"], "shop/cart-0", id="a pod with its namespace"),
        pytest.param(["shop/cart-0", "test/cart-0"], "cart-0", id="a pod's name in two namespaces"),
        pytest.param(["shop/Deployment/cart"], "shop/cart", id="a workload with its namespace"),
        pytest.param(["test/StatefulSet/cart"], "statefulset/cart", id="a workload with its kind"),
        pytest.param(["shop/Deployment/cart", "test/StatefulSet/cart"], "cart", id="a workload's name"),
        pytest.param(["shop/shell"], "shop/shell", id="a pod called as its workload"),
        pytest.param(["shop/shell", "shop/StatefulSet/shell"], "shell", id="both, by the name alone"),
        pytest.param(["gke-a-x7"], "node/gke-a-x7", id="a node, as for kubectl"),
        pytest.param(["gke-a-x7"], "no/x7", id="a node's end, as short"),
        pytest.param(["shop/shell"], "pod/shell", id="a pod, as for kubectl"),
        pytest.param(["test/cart-0"], "po/test/cart-0", id="a pod with its namespace, as short"),
        pytest.param(["shop/Deployment/cart"], "deploy/cart", id="a Deployment, as for kubectl"),
        pytest.param(["shop/StatefulSet/shell"], "sts/shell", id="a StatefulSet, as short"),
        pytest.param([], "deploy/shell", id="another kind"),
        pytest.param([], "nothing", id="nothing"),
        pytest.param([], "waits", id="a pod on no node"),
    ],
)
def test_a_word_means(expected: list[str], word: str) -> None:
    assert [match_.name for match_ in matches(_situation(), word)] == expected


def test_a_workload_s_pods_are_those_of_all_its_replica_sets() -> None:
    assert [each.key for each in resolve_name(_situation(), "shop/Deployment/cart").pods] == ["shop/cart-0"]
