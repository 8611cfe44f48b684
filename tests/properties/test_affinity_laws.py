"""Required affinity holds in whatever order the pods of a plan move: several nodes are drained at once."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from shared.core.cluster.pod import PodClass
from shared.core.cluster.selectors import LabelSelector, PodTerm, Requirement
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Simulation
from tests.builders import cluster, node, pod, pod_class
from tests.depth import examples
from tests.placement_checker import faults
from tests.properties.clusters import HOSTNAME, ZONE

APPS = ("red", "green", "blue")


@st.composite
def groups(draw: st.DrawFn) -> PodClass:
    """A class that most often asks for one app or two, perhaps its own, by one key or two."""
    asked = draw(st.lists(st.tuples(st.sampled_from(APPS), st.sampled_from([ZONE, ZONE, HOSTNAME])), max_size=2))
    owner = draw(st.sampled_from(["ReplicaSet"] * 5 + ["DaemonSet"]))
    return pod_class(
        owner=f"{owner}/{draw(st.sampled_from(APPS))}",
        cpu=draw(st.sampled_from([0.1, 1])),
        affinity=tuple(
            PodTerm(key, LabelSelector((Requirement("app", "In", (app,)),)), ("default",)) for app, key in asked
        ),
    )


@st.composite
def gatherings(draw: st.DrawFn) -> Snapshot:
    zones = draw(st.lists(st.sampled_from(["a", "a", "b", ""]), min_size=3, max_size=6))
    rows = [node(f"n{place}", zone=zone) for place, zone in enumerate(zones)]
    kinds = draw(st.lists(groups(), min_size=1, max_size=4))
    spots = draw(st.lists(st.tuples(st.sampled_from(kinds), st.sampled_from(rows)), min_size=2, max_size=9))
    return cluster(rows, [pod(f"p{number}", on=row.name, kind=kind) for number, (kind, row) in enumerate(spots)])


@examples(300)
@given(gatherings(), st.booleans(), st.randoms(use_true_random=False))
def test_each_pod_finds_its_place_no_matter_who_has_moved_before(
    snapshot: Snapshot, robust: bool, order: Random
) -> None:
    """Judged with the drained nodes standing there, and with all gone that are drained."""
    simulation = Simulation.of(snapshot, robust=robust)
    taken = [each.name for each in snapshot.nodes if simulation.try_remove(each.name) is None]
    moves = [move for moves in simulation.assignments.moves().values() for move in moves]
    order.shuffle(moves)
    now = snapshot
    for move in moves:
        assert lonely(now, move.pod, move.node, taken) == []
        placed = tuple(structs.replace(each, node=move.node) if each.key == move.pod else each for each in now.pods)
        now = replace(now, pods=placed)


def lonely(snapshot: Snapshot, key: str, target: str, drained: Sequence[str]) -> list[str]:
    return [fault for fault in faults(snapshot, {key: target}, drained) if " ask" in fault]
