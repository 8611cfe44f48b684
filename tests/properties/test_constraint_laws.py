"""Laws that every placement constraint keeps, whatever it counts: all can be taken back, and a copy is its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.core.cluster.pod import PodClass
from shared.core.cluster.selectors import LabelSelector, PodTerm, Requirement, SpreadConstraint
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.constraints import CONSTRAINTS, ConstraintInput, ConstraintState, NewConstraint
from tests.builders import cluster, pod, pod_class
from tests.depth import examples
from tests.properties.clusters import HOSTNAME, PORTS, VOLUMES, ZONE, clusters

APP = LabelSelector((Requirement("app", "In", ("web",)),))

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
    for word, kind, node in news:
        TOLD[word](state, kind, node, pods)


def answers(state: ConstraintState, subject: Subject) -> list[list[bool] | bool]:
    rows = [state.allowed_nodes(kind) for kind in subject.concerned]
    everywhere = [True] * subject.nodes
    return [state.find_misplaced() is None, *(everywhere if row is None else row.tolist() for row in rows)]


@st.composite
def kin(draw: st.DrawFn) -> PodClass:
    """A class of the one app that all rules of each kind are about."""
    key, again = draw(st.sampled_from([ZONE, ZONE, HOSTNAME])), draw(st.sampled_from([ZONE, HOSTNAME]))
    spread = SpreadConstraint(
        key, APP, draw(st.integers(1, 2)), draw(st.integers(1, 3)), honours_taints=draw(st.booleans())
    )
    return pod_class(
        hard_spread=(spread,),
        affinity=(PodTerm(key, APP, ("default",)),),
        anti_affinity=(PodTerm(again, APP, ("default",)),),
        volumes=draw(st.sampled_from(VOLUMES)),
        host_ports=draw(st.sampled_from([PORTS[:1], PORTS[1:2], PORTS[2:]])),
    )


@st.composite
def crowds(draw: st.DrawFn) -> Snapshot:
    """A few pods of one app, whose rules are all about one another; the most is told of them later."""
    snapshot = draw(clusters())
    kinds = draw(st.lists(kin(), min_size=2, max_size=3))
    rows = [replace(node, labels={**node.labels, ZONE: node.labels.get(ZONE, "c")}) for node in snapshot.nodes]
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
    for each in shuffled:
        plain.tell([each], 1)
        answers(plain.state, subject)
    tell(twin, rest, 1)
    after = answers(plain.state, subject)
    assert answers(subject.state, subject) == answers(twin, subject) == after
    subject.tell(rest, -1)
    assert answers(subject.state, subject) == before
    assert answers(twin, subject) == after
    subject.tell(rest, 1)
    assert answers(subject.state, subject) == after
