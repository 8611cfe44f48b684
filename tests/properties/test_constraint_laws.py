"""Laws that every placement constraint keeps, whatever it counts: all can be taken back, and a copy is its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.selectors import PodTerm, SpreadConstraint
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Simulation
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.constraints import CONSTRAINTS
from shared.core.placement.constraints.constraint import ConstraintInput, ConstraintState, NewConstraint
from tests.builders import announced_taint, cluster, node, pod, pod_class
from tests.depth import examples
from tests.placement_checker import faults
from tests.properties.clusters import APPS, HOSTNAME, PORTS, VOLUMES, ZONE, clusters, of
from tests.properties.emptying import left_waiting

WEB = of("web")
ANNOUNCED: Final = (announced_taint(),)

Tell = Callable[[ConstraintState, int, int, int], None]
TOLD: Final[Mapping[str, Tell]] = {
    "add": lambda state, kind, node, pods: state.add(kind, node, pods),
    "place": lambda state, kind, node, pods: state.place(kind, node, pods),
    "leave": lambda state, kind, node, pods: state.leave(kind, node, pods),
    "evict": lambda state, kind, node, pods: state.evict(kind, node, pods),
    "close": lambda state, _, node, pods: state.close(node) if pods > 0 else state.reopen(node),
}


class News(NamedTuple):
    """One thing that a constraint is told; class and node are drawn as large numbers and fold onto what there is."""

    word: str
    kind: int
    node: int


class Subject:
    """One constraint over one picture, with all that lies there counted."""

    def __init__(self, new: NewConstraint, snapshot: Snapshot) -> None:
        arrays = ClusterArrays(snapshot, ())
        constraint = new(ConstraintInput(snapshot, arrays.classes, arrays.node_filters))
        self.nodes = len(snapshot.nodes)
        self.concerned = [kind for kind in range(len(arrays.classes)) if constraint.concerns(kind)]
        self.state = constraint.state()
        for bound in snapshot.pods:
            kind = arrays.kind_of[bound.spec]
            if bound.node and kind in self.concerned:
                self.state.add(kind, arrays.index[bound.node])

    def real(self, drawn: Sequence[News]) -> list[News]:
        """Fold the drawn numbers; no node is closed twice."""
        found = dict.fromkeys(
            news._replace(kind=self.concerned[news.kind % len(self.concerned)], node=news.node % self.nodes)
            for news in drawn
        )
        closed = {fromkey.node: fromkey for fromkey in found if fromkey.word == "close"}
        return [fromkey for fromkey in found if fromkey.word != "close" or closed[fromkey.node] is fromkey]

    def tell(self, news: Sequence[News], pods: int) -> None:
        tell(self.state, news, pods)


def tell(state: ConstraintState, news: Sequence[News], pods: int) -> None:
    for word, kind, place in news:
        TOLD[word](state, kind, place, pods)


def answers(state: ConstraintState, subject: Subject) -> list[list[bool] | bool]:
    rows = [state.allowed_nodes(kind) for kind in subject.concerned]
    everywhere = [True] * subject.nodes
    return [state.find_misplaced() is None, *(everywhere if row is None else row.tolist() for row in rows)]


@st.composite
def kin(draw: st.DrawFn) -> PodClass:
    """A class of the one app that all rules of each kind are about."""
    key, again = draw(st.sampled_from([ZONE, ZONE, HOSTNAME])), draw(st.sampled_from([ZONE, HOSTNAME]))
    spread = SpreadConstraint(
        key, WEB, draw(st.integers(1, 2)), draw(st.integers(1, 3)), honours_taints=draw(st.booleans())
    )
    return pod_class(
        hard_spread=(spread,),
        affinity=(PodTerm(key, WEB, ("default",)),),
        anti_affinity=(PodTerm(again, WEB, ("default",)),),
        volumes=draw(st.sampled_from(VOLUMES)),
        host_ports=draw(st.sampled_from([PORTS[:1], PORTS[1:2], PORTS[2:]])),
    )


@st.composite
def crowds(draw: st.DrawFn) -> Snapshot:
    """A few pods of one app, whose rules are all about one another; the most is told of them later."""
    snapshot = draw(clusters())
    kinds = draw(st.lists(kin(), min_size=2, max_size=3))
    rows = [
        replace(
            node,
            labels={**node.labels, ZONE: node.labels.get(ZONE, "c")},
            taints=(*node.taints, *draw(st.sampled_from([(), (), ANNOUNCED]))),
        )
        for node in snapshot.nodes
    ]
    places = draw(st.lists(st.sampled_from(rows), max_size=4))
    pods = [pod(f"k{number}", kind=kind) for number, kind in enumerate(kinds)]
    more = [pod(f"p{number}", on=place.name, kind=kinds[0]) for number, place in enumerate(places)]
    return replace(cluster(rows, [*pods, *more], namespaces={"default": {}}), storage=snapshot.storage)


one = st.builds(News, st.sampled_from(sorted(TOLD)), st.integers(0, 99), st.integers(0, 99))
news = st.lists(one, max_size=12)


@pytest.mark.parametrize("new", CONSTRAINTS)
@examples(80)
@given(snapshot=st.one_of(clusters(), crowds()), drawn=news)
def test_a_node_is_allowed_by_itself_as_among_all(new: NewConstraint, snapshot: Snapshot, drawn: list[News]) -> None:
    subject = Subject(new, snapshot)
    if not subject.concerned:
        return
    subject.tell(subject.real(drawn), 1)
    among_all = answers(subject.state, subject)[1:]

    by_itself = [[subject.state.allows(kind, node) for node in range(subject.nodes)] for kind in subject.concerned]

    assert by_itself == among_all


@pytest.mark.parametrize("new", CONSTRAINTS)
@examples(80)
@given(snapshot=st.one_of(clusters(), crowds()), drawn=news, order=st.randoms(use_true_random=False))
def test_what_a_constraint_was_shown_is_taken_back_in_any_order(
    new: NewConstraint, snapshot: Snapshot, drawn: list[News], order: Random
) -> None:
    subject = Subject(new, snapshot)
    if not subject.concerned:
        return
    before = answers(subject.state, subject)
    told = subject.real(drawn)
    subject.tell(told, 1)
    order.shuffle(told)
    subject.tell(told, -1)
    assert answers(subject.state, subject) == before


@pytest.mark.parametrize("new", CONSTRAINTS)
@examples(80)
@given(
    snapshot=crowds(),
    drawn=st.lists(one, min_size=4, max_size=16),
    lasting=st.integers(1, 9),
    order=st.randoms(use_true_random=False),
)
def test_a_state_answers_by_what_stands_in_any_order_whatever_else_it_and_its_twin_were_shown_and_asked(
    new: NewConstraint, snapshot: Snapshot, drawn: list[News], lasting: int, order: Random
) -> None:
    subject, plain = Subject(new, snapshot), Subject(new, snapshot)
    if not subject.concerned:
        return
    told = subject.real(drawn)
    subject.tell(told[:lasting], 1)
    plain.tell(told[:lasting], 1)
    before, twin = answers(plain.state, subject), subject.state.copy()
    assert answers(twin, subject) == before

    rest = told[lasting:]
    subject.tell(rest, 1)
    assert answers(twin, subject) == before
    shuffled = order.sample(rest, len(rest))
    for row in shuffled:
        plain.tell([row], 1)
        answers(plain.state, subject)
    tell(twin, rest, 1)
    after = answers(plain.state, subject)
    assert answers(subject.state, subject) == answers(twin, subject) == after
    subject.tell(rest, -1)
    assert answers(subject.state, subject) == before
    assert answers(twin, subject) == after
    subject.tell(rest, 1)
    assert answers(subject.state, subject) == after


@st.composite
def groups(draw: st.DrawFn) -> PodClass:
    """A class that most often asks for one app or two, perhaps its own, by one key or two."""
    asked = draw(st.lists(st.tuples(st.sampled_from(APPS), st.sampled_from([ZONE, ZONE, HOSTNAME])), max_size=2))
    owner = draw(st.sampled_from(["ReplicaSet"] * 5 + ["DaemonSet"]))
    return pod_class(
        owner=f"{owner}/{draw(st.sampled_from(APPS))}",
        cpu=draw(st.sampled_from([0.1, 1])),
        affinity=tuple(PodTerm(key, of(app), ("default",)) for app, key in asked),
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
    taken = [any_node.name for any_node in snapshot.nodes if simulation.try_remove(any_node.name) is None]
    moves = [move for moves in simulation.assignments.moves().values() for move in moves]
    order.shuffle(moves)
    now = snapshot
    for move in moves:
        assert lonely(now, move.pod, move.node, taken) == []
        placed = tuple(
            structs.replace(any_pod, node=move.node) if any_pod.key == move.pod else any_pod for any_pod in now.pods
        )
        now = replace(now, pods=placed)


def lonely(snapshot: Snapshot, key: str, target: str, drained: Sequence[str]) -> list[str]:
    return [fault for fault in faults(snapshot, {key: target}, drained) if " ask" in fault]


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
