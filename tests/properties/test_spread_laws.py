"""The law of hard topology spread that lets several nodes be emptied at once (docs/decisions/robust-fit.md)."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.selectors import LabelSelector, Requirement, SpreadConstraint
from shared.core.cluster.snapshot import Snapshot
from tests.builders import cluster, node, pod
from tests.depth import examples
from tests.properties.clusters import HOSTNAME, ZONE
from tests.properties.emptying import left_waiting

WEB = LabelSelector((Requirement("app", "In", ("web",)),))


@st.composite
def spread_clusters(draw: st.DrawFn) -> Snapshot:
    """One workload under one constraint, beside pods that it counts and that ask for nothing."""
    skew, domains, honours = draw(st.integers(1, 3)), draw(st.sampled_from([1, 1, 2])), draw(st.booleans())
    asks = SpreadConstraint(draw(st.sampled_from([ZONE, ZONE, HOSTNAME])), WEB, skew, domains, honours_taints=honours)
    nodes, pods = list[Node](), list[Pod]()
    for zone in "abcd"[: draw(st.integers(2, 4))]:
        for _ in range(draw(st.integers(1, 2))):
            nodes.append(node(f"n{len(nodes)}", zone=zone, cpu=draw(st.integers(1, 4)) / 10))
            for _ in range(draw(st.integers(0, 3))):
                name, free = f"p{len(pods):02}", draw(st.integers(0, 7)) == 0
                rule = {"owner": "ReplicaSet/free"} if free else {"hard_spread": (asks,)}
                pods.append(pod(name, on=nodes[-1].name, **rule))
    return cluster(nodes, pods or [pod("p", on="n0")])


@pytest.mark.parametrize("robust", [False, True])
@examples(300)
@given(snapshot=spread_clusters(), order=st.randoms(use_true_random=False))
def test_no_matter_who_is_evicted_first_all_find_the_places_of_the_proof(
    robust: bool, snapshot: Snapshot, order: Random
) -> None:
    assert left_waiting(snapshot, robust=robust, order=order) == []
