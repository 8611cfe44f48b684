"""What the autoscaler leaves by itself, and whether a set of drains betters it (docs/decisions/money-over-days.md).

Demand stays as it is. The autoscaler announces what it finds unneeded and empties it; then the scheduler has placed
the pods, and it looks again.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Final

from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.cluster_arrays import ArraysOf, ClusterArrays
from shared.core.planning.autoscaler import context_of, without_announcements
from shared.core.planning.autoscaler_look import eligible, nodes_unneeded
from shared.core.planning.bill import Savings
from shared.core.planning.scheduling import Drained, drain_nodes
from shared.core.rules.situation import Situation

FEW: Final = 500  # Up to so many nodes the autoscaler is followed in a pass.
ROUNDS: Final = 20  # So many of its rounds at most.
DICE: Final = 3  # So often it is followed: in which order it asks the nodes decides what it reaches.
WANDERS: Final = Fraction(1, 10)  # The part of what it saves by moving pods that its dice decide.

FindUnneeded = Callable[[Snapshot], Sequence[str]]
"""Returns what the autoscaler would announce, in the order in which it would remove it."""


def left_alone(
    snapshot: Snapshot, find_unneeded: FindUnneeded, rounds: int, arrays_of: ArraysOf = ClusterArrays
) -> Iterator[Drained]:
    """Yield the autoscaler's rounds, each with what it has announced until then; at most so many."""
    for _ in range(rounds):
        names = find_unneeded(snapshot)
        step = drain_nodes(snapshot, names, names, arrays_of, by_autoscaler=names)
        if not step.gone:
            return
        yield step
        snapshot = step.snapshot


def saves_as_much(situation: Situation, going: Collection[str], savings: Savings, arrays_of: ArraysOf) -> bool:
    """Whether the autoscaler alone, with the best of its dice, saves about as much as if these nodes went first."""
    # About: its dice decide a tenth of what it saves by moving pods, so less than that is no proof that drains are
    # better. The very same is welcome, for it comes sooner. In a large cluster one node is no matter.
    nodes = situation.snapshot.node_by_name
    most = savings.saving_of(eligible(situation.snapshot))
    if len(nodes) > FEW or savings.saving_of(nodes[name] for name in going) >= most:
        return False
    snapshot = without_announcements(situation.snapshot)
    alone = _ways(snapshot, arrays_of)
    first = drain_nodes(snapshot, sorted(going), {*going, *alone[0]}, arrays_of)
    together = [[*first.gone, *later] for later in _ways(first.snapshot, arrays_of)]

    def saved(names: Iterable[str]) -> int:
        return savings.saving_of(nodes[name] for name in names)

    best, ours = max(alone, key=saved), max(map(saved, together))
    moved = saved(name for name in best if situation.moving(name))
    return ours != saved(best) and ours < saved(best) + WANDERS * moved


def _ways(snapshot: Snapshot, arrays_of: ArraysOf) -> list[list[str]]:
    """Return which nodes the autoscaler may remove by itself, with one throw of its dice and with others."""

    def follow(place: int) -> list[str]:
        rounds = left_alone(
            snapshot, lambda seen: nodes_unneeded(seen, context_of(seen), arrays_of, place), ROUNDS, arrays_of
        )
        return [name for step in rounds for name in step.gone]

    return [follow(turn * len(snapshot.nodes) // DICE) for turn in range(DICE)]
