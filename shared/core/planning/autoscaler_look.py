"""What the autoscaler does by itself: which nodes a look finds unneeded, and what it leaves after its rounds.

It asks rule by rule. Each node that it takes leaves less for those after it: less room, less of the
PodDisruptionBudgets, less of the minimums. After a look the scheduler places what was evicted, and whether a set of
drains betters the end is asked here, too (docs/decisions/money-over-days.md). Recordings of the real one hold this
model (tests/cli/analysis/simulated_days/test_recordings.py). Source: cluster-autoscaler,
core/scaledown/planner/planner.go, core/scaledown/pdb/basic.go, processors/scaledowncandidates.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Final
from zlib import crc32

import numpy as np

from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Simulation
from shared.core.placement.cluster_arrays import Amounts, ArraysOf, ClusterArrays
from shared.core.placement.cluster_packings import NextFit, SchedulerPacking
from shared.core.placement.node_room import OUTSIDE
from shared.core.placement.packing import in_queue_order
from shared.core.placement.strategies import LEAST_ALLOCATED, MOST_ALLOCATED, Strategy
from shared.core.planning.autoscaler import (
    context_of,
    drop_expendable,
    is_eligible,
    is_expendable,
    may_be_moved,
    without_announcements,
)
from shared.core.planning.bill import Savings
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.pod_rules import is_safe_to_evict
from shared.core.rules.pods import movable
from shared.core.rules.situation import Situation

PARALLEL: Final = 10  # Nodes that may be deleted at once (max-scale-down-parallelism).


@dataclass(frozen=True, slots=True)
class Earlier:
    leaving: Collection[str] = ()  # Nodes on their way out.
    unneeded: Collection[str] = ()  # Nodes that were found by the last look.
    place: int = 0  # From which node on the search for room goes on.
    homes: Mapping[str, str] = field(default_factory=dict)  # By pod, where the last look put it.


NO_EARLIER: Final = Earlier()


@dataclass(frozen=True, slots=True)
class ScaleDownScan:
    next_place: int  # From which node on the next look searches for room.
    unneeded: tuple[str, ...] = ()
    """The nodes that could go, in the order in which they are removed: empty ones first, risky ones last."""
    kept: tuple[str, ...] = ()  # Eligible nodes that could not go; they are not looked at again for a while.
    unseen: bool = False  # Whether it ended before it had looked at all: it had found enough.
    homes: Mapping[str, str] = field(default_factory=dict)  # By pod of a node found, where it was put.


def nodes_unneeded(
    snapshot: Snapshot, context: DrainContext, arrays_of: ArraysOf = ClusterArrays, place: int = 0
) -> tuple[str, ...]:
    """Return all nodes that the autoscaler would find unneeded in time, in the order in which it would remove them."""
    # `place` is where its search for room begins, and throws its dice: real ones depend on the order of a Go map.
    rows = eligible(snapshot)
    return scan(snapshot, context, rows, Earlier(place=place), most=len(rows), arrays_of=arrays_of).unneeded


def eligible(snapshot: Snapshot) -> list[Node]:
    """Return the nodes that the autoscaler looks at. Pods that move add none to them: they only fill others."""
    pods = snapshot.pods_by_node
    return [node for node in snapshot.nodes if is_eligible(node, pods[node.name], snapshot.scale_down(node).gate)]


def scan(
    snapshot: Snapshot,
    context: DrainContext,
    looked_at: Iterable[Node],
    earlier: Earlier = NO_EARLIER,
    *,
    most: int = 0,
    arrays_of: ArraysOf = ClusterArrays,
) -> ScaleDownScan:
    """Return which of these eligible nodes could go, one after the other; it ends with `most` nodes found."""
    # Empty nodes are asked first, then those that were unneeded before. By default it ends with twice as many more
    # than before as may be deleted at once (planner.go, unneededNodesLimit).
    seen, before = without_announcements(drop_expendable(snapshot)), earlier.unneeded
    look = _Look(seen, context, earlier, arrays_of)
    rows = [node for node in looked_at if look.sizes.may_shrink(node)]
    # Nodes stand in another order in each look, as those of a Go map do; under other names it does the same.
    numbers = {node.name: number for number, node in enumerate(seen.nodes)}
    dice = {node.name: crc32(f"node {numbers[node.name]} {earlier.place}".encode()) for node in rows}
    rows.sort(key=lambda node: (look.moves_pods(node.name), node.name not in before, dice[node.name]))
    enough = most or len(before) + 2 * PARALLEL
    for node in rows:
        if len(look.found) >= enough:
            return look.result(unseen=True)
        look.ask(node)
    return look.result(unseen=False)


class _Look:
    """What it has found so far, where it has put the pods, and what is left of budgets and minimums."""

    def __init__(self, snapshot: Snapshot, context: DrainContext, earlier: Earlier, arrays_of: ArraysOf) -> None:
        self.sizes, self._budgets = _Sizes(snapshot), _Budgets(context)
        for name in earlier.leaving:
            self.sizes.take(snapshot.node_by_name[name])
        self._snapshot, self._context, self._earlier, self._arrays_of = snapshot, context, earlier, arrays_of
        self._pods: dict[str, tuple[Pod, ...]] = {}
        self.found: dict[str, bool] = {}
        """The nodes that could go, and whether they are risky: of several pods a budget lets only some go at once."""
        self._kept: list[str] = []
        self._homes: dict[str, str] = {}
        self._on: defaultdict[tuple[int, int], list[str]] = defaultdict(list)
        """By node and class, the pods that are there as far as it has looked."""

    def moves_pods(self, name: str) -> bool:
        return bool(self._pods_of(name))

    def _pods_of(self, name: str) -> tuple[Pod, ...]:
        if name not in self._pods:
            self._pods[name] = movable(self._snapshot.pods_by_node[name], self._snapshot.taken_at)
        return self._pods[name]

    @cached_property
    def _packing(self) -> NextFit:
        """Where pods lie as far as it has looked: what waits and what leaves nodes in deletion has a place already."""
        # core/podlistprocessor: currently_drained_nodes.go, filter_out_schedulable.go.
        arrays = self._arrays_of(self._snapshot)
        moving = (pod for name in self._earlier.leaving for pod in self._pods_of(name) if pod.deleting is None)
        queue = in_queue_order((*arrays.pending, *moving))
        packing = NextFit(arrays, self._earlier.place)
        packing.close(arrays.places_of(self._earlier.leaving))
        packing.reserve([arrays.kind_of[pod.spec] for pod in queue], OUTSIDE)
        return packing

    @cached_property
    def _simulation(self) -> Simulation:
        return Simulation(self._packing.arrays, [self._packing])

    def ask(self, node: Node) -> None:
        leaving = self._may_leave(node.name)
        if leaving is None or not self.sizes.may_shrink(node) or not self._find_homes(node.name):
            self._kept.append(node.name)
            return
        self.found[node.name] = self._budgets.take(leaving)
        self.sizes.take(node)

    def _find_homes(self, name: str) -> bool:
        """Whether the pods of the node find room; each is tried where the last look put it before any other node."""
        # So a node that was found is found again, however much its pods would load nodes that are found after it.
        begun = len(self._packing.log)
        self._packing.hints = self._hints_of(name)
        found = self._simulation.try_remove(name) is None
        self._note_homes(begun)
        return found

    def _hints_of(self, name: str) -> Mapping[int, list[int]]:
        """Return by class where the last look put pods of the node, which are on it from now on."""
        arrays, hints = self._packing.arrays, defaultdict[int, list[int]](list)
        for pod in self._pods_of(name):
            kind = arrays.kind_of[pod.spec]
            self._on[arrays.index[name], kind].append(pod.key)
            hints[kind] += arrays.places_of([self._earlier.homes.get(pod.key, "")])
        return hints

    def _note_homes(self, begun: int) -> None:
        """Follow the pods of the placements since that place in the log; those of nodes in deletion have no name."""
        for placement in self._packing.log[begun:]:
            here = self._on[placement.source, placement.kind]
            if here:
                key = here.pop(0)
                self._on[placement.target, placement.kind].append(key)
                self._homes[key] = self._packing.arrays.nodes[placement.target].name

    def _may_leave(self, name: str) -> list[PodClass] | None:
        """Return the classes of the pods on the node, with those put there in this look; None if one may not go."""
        own = self._pods_of(name)
        if not may_be_moved(own, self._context):
            return None
        classes = [*(pod.spec for pod in own), *self._packing.find_put_on(self._packing.arrays.index[name])]
        return None if any(map(self._budgets.refuses, classes)) else classes

    def result(self, *, unseen: bool) -> ScaleDownScan:
        names = sorted(self.found, key=lambda name: (self.moves_pods(name), self.found[name]))
        place = self._packing.place if self.found else self._earlier.place
        return ScaleDownScan(place, tuple(names), tuple(self._kept), unseen=unseen, homes=self._homes)


class _Budgets:
    """What the PodDisruptionBudgets allow, less the pods of the nodes found (pdb/basic.go, RemovePods)."""

    def __init__(self, context: DrainContext) -> None:
        self._context = context
        self._used: Counter[str] = Counter()

    def refuses(self, spec: PodClass) -> bool:
        """Whether a pod of the class may not go (drainability/rules/pdb)."""
        # What is safe to evict moves whatever a budget allows; the eviction API still asks it.
        budgets = () if is_safe_to_evict(spec) else self._context.budgets_of(spec)
        return any(budget.disruptions_allowed - self._used[budget.key] < 1 for budget in budgets)

    def take(self, classes: Sequence[PodClass]) -> bool:
        """Take the pods of a node off; return whether that is more than a budget allows (CanRemovePods)."""
        budgets = [budget for spec in classes for budget in self._context.budgets_of(spec)]
        self._used.update(budget.key for budget in budgets)
        return any(budget.disruptions_allowed < self._used[budget.key] for budget in budgets)


class _Sizes:
    """How many nodes are left of each pool and of its zones, which have minimums."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._pools = snapshot.pools
        self._left = Counter(key for node in snapshot.nodes if not node.outside for key in self._keys(node))

    def may_shrink(self, node: Node) -> bool:
        pool = self._pools.get(node.pool)
        if pool is None or not pool.autoscaled:
            return False
        total, zone = (self._left[key] for key in self._keys(node))
        return total > pool.min_total and zone > pool.min_per_zone

    def take(self, node: Node) -> None:
        self._left.subtract(self._keys(node))

    @staticmethod
    def _keys(node: Node) -> Iterator[tuple[str, ...]]:
        yield (node.pool,)
        yield (node.pool, node.zone)


SCORING: Final[Mapping[str, Strategy]] = {"BALANCED": LEAST_ALLOCATED, "OPTIMIZE_UTILIZATION": MOST_ALLOCATED}
"""By the cluster's autoscaling profile, which on GKE sets the scheduler's scoring, too."""


@dataclass(frozen=True)
class Drained:
    """What came of drains: the snapshot afterwards, the nodes that are gone in order, and the number of evictions."""

    snapshot: Snapshot
    gone: tuple[str, ...] = ()
    evictions: int = 0


def scheduler_arrays(snapshot: Snapshot) -> ClusterArrays:
    """Return the arrays by which scheduler and autoscaler place pods: what is there counts, announced or going."""
    return ClusterArrays(without_announcements(snapshot), foresees=False)


def drain_nodes(
    snapshot: Snapshot,
    leaving: Iterable[str],
    avoided: Collection[str],
    arrays_of: ArraysOf = ClusterArrays,
    *,
    by_autoscaler: Collection[str] = (),
) -> Drained:
    """Drain nodes one after another; one of which a pod finds no place stays as it is."""
    # Expendable pods of nodes that go `by_autoscaler` end with them, and come back where there is room.
    names = tuple(leaving)
    if not names:
        return Drained(snapshot)
    expendable = (pod for name in by_autoscaler for pod in snapshot.pods_by_node[name] if is_expendable(pod.spec))
    if ending := {pod.key for pod in expendable}:
        snapshot = replace(snapshot, pods=tuple(pod for pod in snapshot.pods if pod.key not in ending))
    simulation = begin_scheduling(arrays_of(snapshot), SCORING.get(snapshot.profile, LEAST_ALLOCATED), avoided)
    before = simulation.placement_count
    for name in names:
        simulation.try_remove(name)
    if not simulation.taken:
        return Drained(snapshot)
    places = {move.pod: move.node for move in simulation.assignments.steps()}
    later = snapshot.without(frozenset(simulation.taken), places)
    return Drained(later, simulation.taken, simulation.placement_count - before)


def begin_scheduling(arrays: ClusterArrays, strategy: Strategy, avoided: Collection[str] = ()) -> Simulation:
    """Return a simulation of that one strategy; what is pending has a place; `avoided` nodes have a soft taint."""
    packing = SchedulerPacking(arrays, strategy, count_taints(arrays, avoided))
    packing.reserve([arrays.kind_of[pod.spec] for pod in in_queue_order(arrays.pending)], OUTSIDE)
    return Simulation(arrays, [packing])


def count_taints(arrays: ClusterArrays, *tainted_by: Collection[str]) -> Amounts:
    """Return how many of these collections of names each node is in: a soft taint for each."""
    counted = (sum(node.name in names_of for names_of in tainted_by) for node in arrays.nodes)
    return np.fromiter(counted, np.int64, len(arrays.nodes))


FEW: Final = 500  # Up to so many nodes the autoscaler is followed in a pass.
ROUNDS: Final = 20  # So many of its rounds at most.
DICE: Final = 3  # So often it is followed: in which order it asks the nodes decides what it reaches.
WANDERS: Final = Fraction(1, 10)  # The part of what it saves by moving pods that its dice decide.

FindUnneeded = Callable[[Snapshot], Sequence[str]]
"""Returns what the autoscaler would announce, in the order in which it would remove it."""


def rounds_alone(
    snapshot: Snapshot, find_unneeded: FindUnneeded, rounds: int, arrays_of: ArraysOf = ClusterArrays
) -> Iterator[Drained]:
    """Yield the autoscaler's rounds, each with what it has announced until then; at most so many."""
    # Demand stays as it is: it empties what it finds unneeded, the scheduler places the pods, and it looks again.
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
        rounds = rounds_alone(
            snapshot, lambda seen: nodes_unneeded(seen, context_of(seen), arrays_of, place), ROUNDS, arrays_of
        )
        return [name for step in rounds for name in step.gone]

    return [follow(turn * len(snapshot.nodes) // DICE) for turn in range(DICE)]
