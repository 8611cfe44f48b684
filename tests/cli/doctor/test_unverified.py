"""What `ebb doctor` sees of the things that nobody has seen on a real GKE."""

import re
from dataclasses import replace
from typing import Any

import pytest

from functions.cli.doctor.installation import CheckResult, Grade
from functions.cli.doctor.unverified import SIGHTINGS, report_unverified
from shared.adapters.kubernetes.pod_objects import EXTENDED
from shared.core.cluster import names
from shared.core.cluster.autoscaling import Buffers
from shared.core.cluster.namespace_limits import NamespaceLimits, ResourceQuota
from shared.core.cluster.node import Kubelet, Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.returning import VerticalAutoscaler, VerticalAutoscalers
from shared.core.cluster.workloads import Workload
from shared.errors import Forbidden
from shared.port_types import ClusterReading
from tests.builders import buffer, held, node, pod, taint
from tests.cli.doctor.test_doctor import parts
from tests.fakes import FakeCluster
from tests.pages import ROOT

WAITING: dict[str, Any] = {
    "labels": {names.STANDBY_NODE: "true"},
    "taints": (taint(names.STANDBY_NODE, "PreferNoSchedule"),),
}
SUSPENDED: dict[str, Any] = {
    "labels": {names.STANDBY_NODE: "true"},
    "taints": (taint(names.STANDBY_SUSPENDED_TAINT),),
    "conditions": frozenset({names.SUSPENDED_CONDITION}),
    "unschedulable": True,
    "ready": False,
}
MANAGED: dict[str, Any] = {"labels": {names.MANAGED_NODE: "true"}, "taints": (taint(names.MANAGED_NODE),)}
NEW, OLD = Kubelet((1, 36), frozenset({"A"})), Kubelet((1, 35))


def cluster(*things: Node | Pod, **holds: Any) -> FakeCluster:
    made = FakeCluster(*things)
    vars(made).update(holds)
    return made


def other(name: str = "n1", **changes: Any) -> Node:
    return node(name, kubelet=changes.pop("kubelet", NEW), **changes)


def found_in(given: FakeCluster) -> list[CheckResult]:
    return list(report_unverified(replace(parts(), cluster=lambda: given)))


@pytest.mark.parametrize(
    ("word", "grade", "said", "given"),
    [
        pytest.param(
            "suspended",
            Grade.OK,
            "1 node; the label, the taint, the condition, the cordon are",
            cluster(other(**SUSPENDED)),
            id="as GKE does",
        ),
        pytest.param(
            "suspended",
            Grade.WARN,
            "the taint, the cordon not on each",
            cluster(other(**{**SUSPENDED, "taints": (), "unschedulable": False})),
            id="suspended without some marks",
        ),
        pytest.param("waiting", Grade.OK, "1 node; the label, the taint are", cluster(other(**WAITING)), id="waits"),
        pytest.param(
            "waiting",
            Grade.WARN,
            "the taint not on each",
            cluster(other(**{**WAITING, "taints": ()})),
            id="waits without its taint",
        ),
        pytest.param("managed", Grade.OK, "1 node; the label, the taint are", cluster(other(**MANAGED)), id="managed"),
        pytest.param(
            "managed",
            Grade.WARN,
            "the label not on each",
            cluster(other(**{**MANAGED, "labels": {}})),
            id="managed without its label",
        ),
        pytest.param(
            "maintained",
            Grade.OK,
            "Drained on 1 node, MaintenancePlanned on 2 nodes",
            cluster(
                other(conditions=frozenset({"MaintenancePlanned", "Drained"})),
                other("n2", conditions=frozenset({"MaintenancePlanned"})),
            ),
            id="under maintenance",
        ),
        pytest.param(
            "buffers",
            Grade.OK,
            "1 buffer with 3 chunks, of which 2 have room",
            cluster(other(), buffers_held=held(replace(buffer("web", 3), ready=2))),
            id="buffers that show how many are ready",
        ),
        pytest.param(
            "buffers",
            Grade.WARN,
            "default/web of 1 have no readyReplicas",
            cluster(other(), buffers_held=held(buffer("web", 3))),
            id="buffers that do not",
        ),
        pytest.param(
            "buffers",
            Grade.WARN,
            "The room that these ask for is not kept, for they cannot be read: b: odd.",
            cluster(other(), buffers_held=Buffers(faults=("b: odd",))),
            id="buffers of another shape",
        ),
        pytest.param(
            "autoscalers",
            Grade.WARN,
            "for these cannot be read: v: odd.",
            cluster(other(), autoscalers_held=VerticalAutoscalers(faults=("v: odd",))),
            id="autoscalers of another shape",
        ),
        pytest.param(
            "autoscalers",
            Grade.OK,
            "2 VerticalPodAutoscalers, of which 1 write",
            cluster(
                other(),
                autoscalers_held=VerticalAutoscalers(
                    (VerticalAutoscaler("d", "a", "t"), VerticalAutoscaler("d", "b", "t", acts=False))
                ),
            ),
            id="autoscalers",
        ),
        pytest.param(
            "kubelets",
            Grade.OK,
            "versions 1.35, 1.36, with 2 sets of declared features",
            cluster(other(), other("n2", kubelet=OLD)),
            id="kubelets of two versions",
        ),
        pytest.param(
            "kubelets",
            Grade.WARN,
            "the version of n2 is of no known form",
            cluster(other(), other("n2", kubelet=Kubelet())),
            id="a version of no known form",
        ),
        pytest.param(
            "ending",
            Grade.OK,
            "1 workload report how many of their pods end; 0 replace",
            cluster(other(), workloads={"d/ReplicaSet/web": Workload("d/Deployment/web", terminating=0)}),
            id="what ends is shown",
        ),
        pytest.param(
            "granted",
            Grade.OK,
            "1 pod with extended resources",
            cluster(other(), pod("web", on="n1", resource_claims=(EXTENDED,))),
            id="granted by a driver",
        ),
        pytest.param(
            "quotas",
            Grade.OK,
            "2 ResourceQuotas, of which 1 are GKE's own",
            cluster(
                other(),
                limits_held=NamespaceLimits(
                    quotas=(
                        ResourceQuota("d", "gke-resource-quotas", {"pods": 1500}, {"pods": 3}),
                        ResourceQuota("d", "team", {"pods": 9}, {"pods": 3}),
                    )
                ),
            ),
            id="quotas of GKE's own",
        ),
        pytest.param(
            "quotas",
            Grade.WARN,
            "d/team have limits without a count",
            cluster(other(), limits_held=NamespaceLimits(quotas=(ResourceQuota("d", "team", {"pods": 9}),))),
            id="a quota that nobody counts",
        ),
    ],
)
def test_what_a_cluster_shows_is_shown_by_its_word(word: str, grade: Grade, said: str, given: FakeCluster) -> None:
    (found,) = found_in(given)

    assert (found.check, found.grade) == ("unverified", grade)
    assert found.sentence.startswith(f"{word}: ")
    assert said in found.sentence
    assert bool(found.remedy) is (grade is Grade.WARN)


def test_a_cluster_that_has_none_of_it_is_shown_in_one_line() -> None:
    (found,) = found_in(cluster(other(), other("n2")))

    assert (found.grade, any(found.sentence.startswith(word) for word in SIGHTINGS)) == (Grade.OK, False)


def test_who_may_not_read_the_cluster_is_shown_that_nothing_can_be_shown() -> None:
    """A person may ask, too: what keeps Ebb from working is the rights' finding, and not this one's."""

    class Closed(FakeCluster):
        def read(self, *, whole: bool = True) -> ClusterReading:
            del whole
            raise Forbidden("Kubernetes API", "pods is forbidden")

    (found,) = found_in(Closed(other()))

    assert (found.grade, found.remedy.endswith(".")) == (Grade.WARN, True)


def test_the_words_of_the_page_are_those_that_doctor_looks_for() -> None:
    page = (ROOT / "docs/unverified.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" |") for line in page.splitlines() if re.match(r"\| [^a-z]", line)]

    assert {word for row in rows for word in re.findall(r"`([a-z]+)`", row[2] if len(row) > 2 else "")} == set(
        SIGHTINGS
    )
    assert len({row[0] for row in rows}) == len(rows) > len(SIGHTINGS)
