"""Laws that every placement constraint keeps, whatever it counts: all can be taken back, and a copy is its own."""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.constraints import CONSTRAINTS, ConstraintInput, ConstraintState, NewConstraint
from tests.depth import examples
from tests.properties.clusters import clusters

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
        for each in snapshot.pods:
            kind = arrays.kind_of[each.spec]
            if each.node and kind in self.concerned:
                self.state.add(kind, arrays.index[each.node])

    def real(self, drawn: Sequence[News]) -> list[News]:
        """Fold the drawn numbers; no node is closed twice."""
        found = dict.fromkeys(
            each._replace(kind=self.concerned[each.kind % len(self.concerned)], node=each.node % self.nodes)
            for each in drawn
        )
        closed = {each.node: each for each in found if each.word == "close"}
        return [each for each in found if each.word != "close" or closed[each.node] is each]

    def tell(self, news: Sequence[News], pods: int) -> None:
        for word, kind, node in news:
            TOLD[word](self.state, kind, node, pods)


def answers(state: ConstraintState, subject: Subject) -> list[list[bool] | bool]:
    rows = [state.allowed(kind) for kind in subject.concerned]
    everywhere = [True] * subject.nodes
    return [state.misplaced() is None, *(everywhere if row is None else row.tolist() for row in rows)]


news = st.lists(st.builds(News, st.sampled_from(sorted(TOLD)), st.integers(0, 99), st.integers(0, 99)), max_size=12)


@pytest.mark.parametrize("new", CONSTRAINTS)
@examples(80)
@given(snapshot=clusters(), drawn=news, order=st.randoms(use_true_random=False))
def test_what_a_constraint_was_told_is_taken_back_in_any_order(
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
@given(snapshot=clusters(), drawn=news)
def test_a_copied_state_answers_alike_and_is_not_moved_by_its_twin(
    new: NewConstraint, snapshot: Snapshot, drawn: list[News]
) -> None:
    subject = Subject(new, snapshot)
    if not subject.concerned:
        return
    before, twin = answers(subject.state, subject), subject.state.copy()
    assert answers(twin, subject) == before
    subject.tell(subject.real(drawn), 1)
    assert answers(twin, subject) == before
