"""The cluster with requests as VerticalPodAutoscalers recommend them, where that is less than what pods request."""

from typing import Any

import pytest

from functions.cli.analysis.recommendations import as_recommended, find_oversized
from shared.adapters.prices import load
from shared.core.cluster.pod import Phase, Pod
from shared.core.cluster.requests import Container, ContainerRequests
from shared.core.cluster.resources import Resources
from shared.core.cluster.returning import ContainerPolicy, VerticalAutoscaler, VerticalAutoscalers
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import Workload
from tests.builders import cluster, node, pod, pod_template, resources
from tests.depth import cases

WEB = "default/Deployment/web"
PROXY = Container("proxy", resources(0.5, 0.5))
OFF = ContainerPolicy(scaled=False)
CPU_ALONE = ContainerPolicy(controlled=frozenset({"cpu"}))
WITHIN_LIMITS = ContainerPolicy(below_limits=True)


def vpa(cpu: float = 0.3, memory: float = 0.5, target: str = WEB, **changes: Any) -> VerticalAutoscaler:
    return VerticalAutoscaler("default", "web", target, **{"recommended": {"app": resources(cpu, memory)}, **changes})


def web(name: str = "web-1", *more: Container, **changes: Any) -> Pod:
    """A pod that requests one CPU and one GiB in its container `app`."""
    asks = ContainerRequests((Container("app", resources(1, 1)), *more))
    given = {"on": "n1", "cpu": asks.total.cpu / 1000, "memory": asks.total.memory / 1024**3, "asks": asks}
    return pod(name, **{**given, **changes})


def seen(*pods: Pod, autoscalers: tuple[VerticalAutoscaler, ...] = (), **limits: Any) -> Snapshot:
    """One node of four CPUs, and pods of a Deployment whose template asks for what they do."""
    made = pod_template(Container("app", resources(1, 1), **limits))
    workloads = {f"default/ReplicaSet/{name}": Workload(WEB, templates=(made,)) for name in ("web", "old")}
    found = VerticalAutoscalers(autoscalers)
    return cluster([node("n1", cpu=4, memory=16)], pods, workloads=workloads, autoscalers=found)


@cases(
    "expected, autoscaler",
    ("one that acts", resources(0.3, 0.5), vpa()),
    ("one in mode Off", resources(0.3, 0.5), vpa(acts=False)),
    ("one of the ReplicaSet itself", resources(0.3, 0.5), vpa(target="default/ReplicaSet/web")),
    ("one of another workload", resources(1, 1), vpa(target="default/Deployment/api")),
    ("what is more counts too", resources(0.3, 2), vpa(0.3, 2)),
    ("nothing is less", resources(1, 1), vpa(1, 2)),
    ("less than a tenth less", resources(1, 1), vpa(0.95, 0.95)),
    ("a tenth less", resources(0.9, 1), vpa(0.9, 1)),
    ("no recommendation yet", resources(1, 1), vpa(recommended={})),
    ("a container that is left out", resources(1, 1), vpa(policies={"app": OFF})),
    ("only CPU is controlled", resources(0.3, 1), vpa(policies={"*": CPU_ALONE})),
    ("no more than the template's limit", resources(0.3, 1.5), vpa(0.3, 2, policies={"app": WITHIN_LIMITS})),
)
def test_a_pod_takes_here_and_elsewhere_what_is_recommended(
    expected: Resources, autoscaler: VerticalAutoscaler
) -> None:
    (found,) = as_recommended(seen(web(), autoscalers=(autoscaler,), limits=resources(2, 1.5))).pods
    assert (found.requests, found.spec.requests) == (expected, expected)


def test_a_container_without_a_recommendation_keeps_its_request() -> None:
    (found,) = as_recommended(seen(web("web-1", PROXY), autoscalers=(vpa(),))).pods
    assert found.requests == resources(0.8, 1)


def test_what_raised_a_pod_or_refused_it_is_found_again() -> None:
    before: dict[str, Any] = {
        "booked": resources(2, 2),
        "raised_by": ("a resize",),
        "refused_by": ("a quota",),
        "replaced_at_end": True,
    }
    (found,) = as_recommended(seen(web(**before), autoscalers=(vpa(),))).pods

    assert found.requests == resources(0.3, 0.5)
    assert (found.spec.raised_by, found.spec.refused_by, found.spec.replaced_at_end) == ((), (), False)


def test_of_several_recommendations_the_highest_counts() -> None:
    (found,) = as_recommended(seen(web(), autoscalers=(vpa(0.2, 0.6), vpa(0.4, 0.5)))).pods
    assert found.requests == resources(0.4, 0.6)


def test_only_pods_of_the_workload_are_changed() -> None:
    before = seen(web(), pod("other", on="n1", owner="ReplicaSet/api"), autoscalers=(vpa(),))
    assert as_recommended(before).pods[0] is before.pods[0]
    without = seen(web())
    assert as_recommended(without) is without


def test_a_workload_is_one_row_with_all_its_pods() -> None:
    pods = (web("a"), web("b"), web("c", owner="ReplicaSet/old"), web("d", phase=Phase.SUCCEEDED))
    (found,) = find_oversized(seen(*pods, autoscalers=(vpa(0.25, 0.5),)), load())

    assert (found.workload, found.pods) == (WEB, 3)
    assert (found.requested, found.recommended) == (resources(3, 3), resources(0.75, 1.5))
    assert found.less_memory


def test_its_difference_costs_its_share_of_the_node_half_by_cpu_and_half_by_memory() -> None:
    price = load().of(node("n1")).per_hour
    (found,) = find_oversized(seen(web(), autoscalers=(vpa(0.6, 1.8),)), load())
    assert found.cost == pytest.approx(price * (0.4 / 4 - 0.8 / 16) / 2, abs=1)
    assert not found.less_memory


def test_those_whose_difference_costs_most_come_first() -> None:
    logs = web("logs", owner="DaemonSet/logs")
    two = (vpa(0.9, 1), vpa(0.1, 1, target="default/DaemonSet/logs"))
    assert [oversized.workload for oversized in find_oversized(seen(web(), logs, autoscalers=two), load())] == [
        two[1].target,
        WEB,
    ]
