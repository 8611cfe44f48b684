"""The law of several nodes emptied at once where pods have several rules together (docs/decisions/robust-fit.md)."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.core.cluster.node import Node
from shared.core.cluster.pod import HostPort, Pod, PodClass
from shared.core.cluster.selectors import LabelSelector, PodTerm, Requirement, SpreadConstraint
from shared.core.cluster.snapshot import Snapshot
from tests.builders import cluster, node, pod, pod_class
from tests.depth import examples
from tests.properties.clusters import HOSTNAME, ZONE
from tests.properties.emptying import left_waiting

WORKLOADS = ("web", "api")


def of(app: str) -> LabelSelector:
    return LabelSelector((Requirement("app", "In", (app,)),))


@st.composite
def kinds(draw: st.DrawFn, app: str) -> PodClass:
    """A workload with rules of its own, of several kinds at once."""
    keys = draw(st.sampled_from([(), (ZONE,), (ZONE,), (HOSTNAME,), (ZONE, HOSTNAME)]))
    spread = tuple(
        SpreadConstraint(key, of(draw(st.sampled_from([app, app, app, *WORKLOADS]))), draw(st.integers(1, 2)), 1,
                         honours_taints=draw(st.booleans()))
        for key in keys
    )  # fmt: skip
    away = draw(st.sampled_from(["", "", *WORKLOADS]))
    near = draw(st.sampled_from(["", "", *WORKLOADS]))
    return pod_class(
        owner=f"ReplicaSet/{app}",
        hard_spread=spread,
        anti_affinity=(PodTerm(draw(st.sampled_from([HOSTNAME, HOSTNAME, ZONE])), of(away), ("default",)),)
        if away
        else (),
        affinity=(PodTerm(draw(st.sampled_from([ZONE, HOSTNAME])), of(near), ("default",)),) if near else (),
        host_ports=(HostPort("TCP", 80),) if draw(st.integers(0, 5)) == 0 else (),
    )


@st.composite
def ruled_clusters(draw: st.DrawFn) -> Snapshot:
    """Two workloads, each with rules of several kinds, beside pods that ask for nothing."""
    classes = [*(draw(kinds(app)) for app in WORKLOADS), pod_class(owner="ReplicaSet/free", cpu=0.1)]
    nodes, pods = list[Node](), list[Pod]()
    for zone in "abcd"[: draw(st.integers(2, 4))]:
        for _ in range(draw(st.integers(1, 2))):
            nodes.append(node(f"n{len(nodes)}", zone=zone, cpu=draw(st.integers(1, 5)) / 10))
            for _ in range(draw(st.integers(0, 3))):
                kind = draw(st.sampled_from(classes))
                pods.append(pod(f"p{len(pods):02}", on=nodes[-1].name, kind=kind))
    return cluster(nodes, pods or [pod("p", on="n0")], namespaces={"default": {}})


@pytest.mark.parametrize("robust", [False, True])
@examples(300)
@given(snapshot=ruled_clusters(), order=st.randoms(use_true_random=False))
def test_under_several_rules_too_all_find_the_places_of_the_proof_no_matter_who_is_evicted_first(
    robust: bool, snapshot: Snapshot, order: Random
) -> None:
    assert left_waiting(snapshot, robust=robust, order=order) == []
