"""Laws of what is copied, undone and remembered: a twin changes nothing of its original, and undo changes nothing."""

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.constraints.domain_counts import NOWHERE, DomainCounts
from shared.core.placement.node_filters import NodeMask
from shared.core.placement.packing import Packing
from shared.core.placement.strategies import ROBUST
from tests.builders import cluster, node, pod
from tests.depth import examples
from tests.properties.clusters import clusters

DOMAINS, MANY = 150, 100_000
"""Some of these domains hold pods: a rule of so few keeps an array, one of so many does not."""
Answers = Sequence[Sequence[bool]]
additions = st.lists(
    st.tuples(st.integers(0, DOMAINS - 1), st.integers(1, 3), st.booleans()), min_size=90, max_size=200
)


def answers(packing: Packing) -> Answers:
    return [packing.taking(kind).tolist() for kind in range(len(packing.arrays.classes))]


def own(packing: Packing, place: int) -> list[int]:
    return [packing.arrays.kind_of[row.spec] for row in packing.arrays.movable(place)]


def packings(snapshot: Snapshot) -> list[Packing]:
    arrays = ClusterArrays(snapshot)
    return [Packing(arrays, strategy) for strategy in ROBUST]


@examples(100)
@given(clusters())
def test_after_an_undo_every_answer_is_as_before(snapshot: Snapshot) -> None:
    for packing in packings(snapshot):
        before = answers(packing)
        for place in range(len(packing.arrays.nodes)):
            removal = packing.remove(place, own(packing, place))
            if removal.succeeded:
                packing.undo(removal)
            assert answers(packing) == before


@examples(100)
@given(clusters(), st.booleans())
def test_a_copy_answers_as_its_original_and_neither_changes_the_other(snapshot: Snapshot, first: bool) -> None:
    for packing in packings(snapshot):
        if packing.arrays.nodes and first:
            packing.remove(0, own(packing, 0))
        before, twin = answers(packing), packing.copy()
        assert answers(twin) == before
        changed, kept = (twin, packing) if first else (packing, twin)
        for place in range(1, len(packing.arrays.nodes)):
            changed.remove(place, own(changed, place))
        assert answers(kept) == before


def test_three_nodes_with_a_pod_each_end_at_one() -> None:
    """The first is refused under one strategy, and takes the others' pods all the same."""
    nodes = [node("n1", cpu=4), node("n2", cpu=3), node("n3", cpu=3)]
    pods = [pod("p1", on="n1", cpu=2), pod("p2", on="n2", cpu=1), pod("p3", on="n3", cpu=1)]
    packing = packings(cluster(nodes, pods))[0]
    big, small = own(packing, 0), own(packing, 1)
    packing.undo(packing.remove(0, big))

    assert packing.taking(small[0])[0]


def taking(counts: DomainCounts, spare: int, compared: int) -> list[bool]:
    """Ask for a node of each domain, and for one that the rule leaves out."""
    nodes = np.array([*range(DOMAINS), NOWHERE])
    found: NodeMask | None = counts.taking(spare, compared, nodes)
    return [True] * len(nodes) if found is None else found.tolist()


def counted(domains: int, rows: Sequence[tuple[int, int, bool]], leaving: Sequence[int] = ()) -> DomainCounts:
    counts = DomainCounts(domains)
    for domain, pods, lasts in rows:
        counts.add(domain, pods, lasting=pods if lasts else 0)
    for domain in leaving:
        counts.leave(domain, 1)
    return counts


@examples(60)
@given(additions, st.lists(st.integers(0, DOMAINS - 1), max_size=3), st.integers(0, 3), st.sampled_from((0, DOMAINS)))
def test_a_rule_over_many_domains_answers_with_an_array_as_without(
    rows: list[tuple[int, int, bool]], leaving: list[int], spare: int, compared: int
) -> None:
    dense, sparse = counted(DOMAINS, rows, leaving), counted(MANY, rows, leaving)

    assert taking(dense, spare, compared) == taking(sparse, spare, compared)
    for domain in range(0, DOMAINS, 7):
        dense.add(domain, 1, lasting=1)
        sparse.add(domain, 1, lasting=1)
    assert taking(dense, spare, compared) == taking(sparse, spare, compared)


@examples(60)
@given(additions, st.integers(0, DOMAINS - 1), st.integers(0, 3))
def test_a_twin_of_many_counts_changes_nothing_of_its_original(
    rows: list[tuple[int, int, bool]], domain: int, spare: int
) -> None:
    counts = counted(DOMAINS, rows)
    before, twin = taking(counts, spare, DOMAINS), counts.copy()

    twin.add(domain, 5, lasting=5)
    twin.leave(domain, 2)

    assert taking(counts, spare, DOMAINS) == before
