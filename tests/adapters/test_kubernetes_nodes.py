from typing import Any

import msgspec
import pytest

from shared.adapters.kubernetes import node_objects, wire
from shared.core.cluster.node import Kubelet, Node
from shared.core.cluster.resources import NOTHING
from shared.core.cluster.selectors import LabelSelector, Requirement, Taint
from shared.core.cluster.workloads import PodDisruptionBudget
from shared.core.policy import Limit
from shared.errors import BadInput
from tests.adapters.objects import api_node
from tests.depth import cases


def read_node(**changes: Any) -> Node:
    return node_objects.node(msgspec.convert(api_node(**changes), wire.Node))


def read_budget(spec: dict[str, Any], **status: Any) -> PodDisruptionBudget:
    raw = {"metadata": {"name": "web", "namespace": "shop", "generation": 2}, "spec": spec, "status": status}
    return node_objects.disruption_budget(msgspec.convert(raw, wire.PodDisruptionBudget))


NEVER = {
    "type": "Ready",
    "status": "Unknown",
    "reason": "NodeStatusNeverUpdated",
    "lastTransitionTime": "2026-03-04T11:00:00Z",
}


@cases(
    "expected, changes",
    ("ready", (True, True), {}),
    ("never ready: the transition is its registration's", (False, False), {"ready": "False"}),
    ("60 s is registration", (False, False), {"ready": "False", "since": "2026-03-04T10:01:00Z"}),
    ("lost later", (False, True), {"ready": "False", "since": "2026-03-04T10:01:01Z"}),
    ("silent since later", (False, True), {"ready": "Unknown", "since": "2026-03-04T21:00:00Z"}),
    ("no transition time", (False, False), {"ready": "False", "since": None}),
    ("no conditions, no allocatable", (False, False), {"status": {}}),
    ("the kubelet never reported", (False, False), {"status": {"conditions": [NEVER]}}),
)
def test_readiness_is_the_ready_conditions(expected: tuple[bool, bool], changes: dict[str, Any]) -> None:
    found = read_node(**changes)

    assert (found.ready, found.once_ready) == expected


def test_a_cordoned_tainted_node_is_read() -> None:
    taint = {"key": "k", "value": "v", "effect": "NoExecute", "timeAdded": "2026-03-04T10:00:00Z"}
    found = read_node(spec={"unschedulable": True, "taints": [taint]})

    assert (found.unschedulable, found.taints) == (True, (Taint("k", "NoExecute", "v"),))
    assert (found.pool, found.resource_version) == ("a", "7")


def test_what_somebody_shows_of_a_nodes_life_is_read_where_it_is_true() -> None:
    rows = [("Suspended", "True"), ("MaintenancePlanned", "True"), ("Drained", "False"), ("DiskPressure", "True")]
    found = read_node(status={"conditions": [{"type": kind, "status": status} for kind, status in rows]})

    assert found.conditions == {"Suspended", "MaintenancePlanned"}


@cases(
    "expected, status",
    ("GKE's", Kubelet((1, 33)), {"nodeInfo": {"kubeletVersion": "v1.33.4-gke.1245000"}}),
    ("with what it declares", Kubelet((1, 37), frozenset({"A", "B"})),
     {"nodeInfo": {"kubeletVersion": "v1.37.0"}, "declaredFeatures": ["B", "A"]}),
    ("of another form: unknown", Kubelet(), {"nodeInfo": {"kubeletVersion": "kwok-0.7"}}),
    ("not reported", Kubelet(), {}),
)  # fmt: skip
def test_the_kubelet_is_read(expected: Kubelet, status: dict[str, Any]) -> None:
    assert read_node(status=status).kubelet == expected


def test_a_node_without_allocatable_has_nothing() -> None:
    assert read_node(status={}).allocatable == NOTHING


APP = Requirement("app", "In", ("web",))


@cases(
    "expected, spec",
    ("no selector matches nothing", None, {}),
    ("an empty one matches everything", LabelSelector(), {"selector": {}}),
    ("labels", LabelSelector((APP,)), {"selector": {"matchLabels": {"app": "web"}}}),
    (
        "labels and expressions",
        LabelSelector((APP, Requirement("canary", "DoesNotExist"))),
        {
            "selector": {
                "matchLabels": {"app": "web"},
                "matchExpressions": [{"key": "canary", "operator": "DoesNotExist"}],
            }
        },
    ),
)
def test_a_budgets_selector_is_carried_over(expected: LabelSelector | None, spec: dict[str, Any]) -> None:
    assert read_budget(spec).selector == expected


def test_a_budgets_status_is_carried_over() -> None:
    found = read_budget(
        {"unhealthyPodEvictionPolicy": "AlwaysAllow"},
        disruptionsAllowed=1,
        currentHealthy=3,
        desiredHealthy=2,
        expectedPods=4,
        observedGeneration=2,
    )

    assert found == PodDisruptionBudget(
        "shop", "web", None, 1, always_evict_unhealthy=True, expected_pods=4, current_healthy=3, desired_healthy=2
    )


@cases(
    "expected, spec",
    ("neither", (None, None), {}),
    ("a number", (Limit(count=2), None), {"minAvailable": 2}),
    ("none", (Limit(count=0), None), {"minAvailable": 0}),
    ("a percentage", (None, Limit(percent=25)), {"maxUnavailable": "25%"}),
    ("no percent", (None, Limit(percent=0)), {"maxUnavailable": "0%"}),
)
def test_what_a_budget_asks_for_is_carried_over(
    expected: tuple[Limit | None, Limit | None], spec: dict[str, Any]
) -> None:
    found = read_budget(spec)
    assert (found.min_available, found.max_unavailable) == expected


def test_a_budget_that_asks_for_nonsense_is_named() -> None:
    with pytest.raises(BadInput, match=r"shop/web.*'two'"):
        read_budget({"minAvailable": "two"})


@cases(
    "expected, condition",
    ("in its words", "web has no scale", {"reason": "SyncFailed", "message": "web has no scale"}),
    ("without words", "SyncFailed", {"reason": "SyncFailed"}),
    ("too few pods are no fault", "", {"reason": "InsufficientPods", "message": "no"}),
)
def test_what_the_disruption_controller_cannot_count_is_carried_over(expected: str, condition: dict[str, str]) -> None:
    of_disruption = {"type": "DisruptionAllowed", "status": "False", **condition}
    assert read_budget({"maxUnavailable": 1}, conditions=[of_disruption]).fault == expected


@pytest.mark.parametrize(("expected", "seen"), [(False, 1), (True, 2), (True, 3)])
def test_a_status_is_of_the_spec_as_it_stands_or_of_an_older_one(expected: bool, seen: int) -> None:
    assert read_budget({}, observedGeneration=seen).observed == expected
