"""Which of the nodes whose time has come go in this pass: gates and budgets first, then the proof of placement.

Asked in the order in which they would go: empty, expired, those that the steady state takes, the others; among these
what saves most, then what has the fewest young pods, then the lowest score, and those whose drain could miss its
deadline last. A single replica to be avoided goes after all. A node that the steady state keeps is room for what it
takes. Each that is taken changes counts and simulation.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import ClassVar, Final

from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import NoPlace, Simulation
from shared.core.placement.cluster_arrays import ArraysOf, ClusterArrays
from shared.core.planning.autoscaler_look import saves_as_much
from shared.core.planning.bill import Bill, Savings
from shared.core.planning.candidates import AssessedNode, saves_too_little
from shared.core.planning.plan import AtRest
from shared.core.planning.prices import Prices
from shared.core.planning.steady_state import Searcher
from shared.core.planning.waves import most_held, prove_wave
from shared.core.policy import Preference
from shared.core.reasons import Blocker, DrainReason, Unremovable
from shared.core.records.state import ClusterState
from shared.core.rules.counts import NodeCounts, is_leaving
from shared.core.rules.drain_time import DrainTime
from shared.core.rules.gates import GATES, WAVE_GATES, blockers, is_only_paced
from shared.core.rules.pod_costs import young_pods
from shared.core.rules.situation import Situation
from shared.core.rules.surges import surges_of
from shared.core.rules.workload_limits import all_moving_pods, conflict, moving_pods, workload_moves_of

_LATER: Final = frozenset({*(gate.reason for gate in GATES), Unremovable.WORKLOAD_MOVING})
"""What may let a node of a set go later; what else keeps it, keeps it for longer than a set lasts."""
_IN_WAVES: Final = frozenset(gate.reason for gate in WAVE_GATES)
_WAVES: Final = DrainReason.UNDERUTILIZED
SOON: Final = 20  # Nodes that the autoscaler removes in three quarters of an hour, one after another.
KeepRule = Callable[["Selection", AssessedNode], tuple[Blocker, ...]]
"""Returns what keeps a node; empty where the rule does not. Changes nothing."""


class Selection:
    """The nodes taken, in order, what kept the others, and the simulation that proves it."""

    def __init__(
        self,
        situation: Situation,
        counts: NodeCounts,
        rows: Sequence[AssessedNode],
        searcher: Searcher,
        wave: Sequence[str] | None = None,
        *,
        paced: bool = True,
    ) -> None:
        """`wave` are the nodes of a wave that lives, in its order; None where none does."""
        self._situation = situation
        self._rows = rows
        self._searcher = searcher
        self._order = RemovalOrder(situation, searcher.savings)
        self._counts = counts
        self._moving_pods = all_moving_pods(situation.state.claims.values())
        self._paced = paced
        self._simulation: Simulation | None = None
        self._waiting = _count_waiting_pods(situation) if situation.state.claims else Counter()
        self.savings = searcher.savings  # What nodes save given what was taken.
        self.saved: dict[str, int] = {}
        """What each node taken saves given those before it, by name, in micro-dollars an hour."""
        self.taken: list[AssessedNode] = []
        self.kept: dict[str, tuple[Blocker, ...]] = {}  # By node name.
        self.times: dict[str, DrainTime] = {}  # How long a drain takes together with those before it, by node name.

        self.unforeseen: tuple[str, ...] = ()  # Faults of our own that cost a node, or the look ahead.
        self.at_rest: AtRest | None = None
        self._open: dict[str, None] = {}
        """The nodes that the steady state is without, or of the wave, that are still to go, by name."""
        self._living = wave
        self.wave: tuple[str, ...] = ()
        """The nodes that a wave holds from now on, in its order: those of one that lives, or of one that begins."""
        self._places = {name: place for place, name in enumerate(wave or ())}
        """The place of each of them in that order; until the look ahead, of those that were left of one that lives."""
        self._foreseen: tuple[tuple[int, int], Savings] = (0, 0), self.savings
        """What nodes save once all that is open is gone, with how many were taken and open."""
        self._stands_back = False  # Whether the autoscaler alone saves as much as Ebb could.
        self._waves = situation.policy.wave is not None
        """Whether the pace of single drains does not bind the nodes of a set that is held."""

    def consider(self, due: Sequence[AssessedNode]) -> None:
        early = [assessed for assessed in due if _goes_anyway(assessed) and not assessed.avoided]
        chosen = [assessed for assessed in due if assessed.avoided or not _goes_anyway(assessed)]
        for assessed in sorted(early, key=self._order):
            self._ask_or_keep(assessed)
        try:
            self._look_ahead(chosen)
        except Exception as fault:  # noqa: BLE001 - each node is asked by itself then
            self._remember_fault(fault)
        for assessed in sorted(chosen, key=self._following):
            self._ask_or_keep(assessed)

    def judge_waiting(self, waiting: Iterable[AssessedNode]) -> None:
        """Keep those nodes whose time has not come that could not go then either, each asked by itself; take none."""
        for assessed in waiting:
            kept = self._first(self._WAITING_RULES, assessed)
            if found := kept or _blockers_of_refusal(self.simulation.refuses(assessed.node.name)):
                self.kept[assessed.node.name] = found

    @property
    def simulation(self) -> Simulation:
        """The simulation, built when the first node gets past the gates."""
        if self._simulation is None:
            self._simulation = planned_simulation(self._situation, arrays_of=self._searcher.arrays_of)
        return self._simulation

    def _look_ahead(self, chosen: Sequence[AssessedNode]) -> None:
        """Follow the wave that lives; else search for the steady state, if there is anything to choose."""
        self._places = {}
        if self._living is not None:
            fit = {row.node.name for row in self._rows if row.is_candidate}
            fit -= {row.node.name for row in self.taken}
            self._hold_softly([name for name in self._living if name in fit])
        elif any(not self._blockers(node, waves=self._waves) for node in chosen):
            going = self.simulation.announced.union(row.node.name for row in self.taken)
            others = sorted((row for row in self._rows if row.node.name not in going), key=self._order)
            self.at_rest = self._searcher.find_steady_state(
                self._situation, others, self._counts, self.simulation, self.savings
            )
            going |= set(self.at_rest.nodes)
            self._stands_back = saves_as_much(self._situation, going, self.savings, self._searcher.arrays_of)
            if self._stands_back:
                return
            self._open = dict.fromkeys(sorted(self.at_rest.nodes))
            held = [other.node.name for other in others if other.node.name in self._open and other.reason is _WAVES]
            self._hold_softly(held[: most_held(self._situation)])

    def _hold_softly(self, wanted: Sequence[str]) -> None:
        """Prove a wave of these nodes as a whole; what does not fit, and room for those taken, leaves it."""
        moves = self.simulation.assignments.moves() if self.taken else {}
        room = {move.node for own in moves.values() for move in own}
        tries = dict.fromkeys((tuple(wanted), tuple(name for name in wanted if name not in room)))
        for names_of in filter(None, tries):
            nodes, simulation = prove_wave(names_of, self._simulation_closing)
            if nodes and moves.keys() <= simulation.assignments.moves().keys():
                self.wave, self._simulation = nodes, simulation
                self._places = {name: place for place, name in enumerate(nodes)}
                self._open = dict.fromkeys(nodes)
                return

    def _simulation_closing(self, names_of: Sequence[str]) -> Simulation:
        """Return the simulation of this pass, with what was taken, in which nothing may be put on those nodes."""
        simulation = planned_simulation(self._situation, closed=names_of, arrays_of=self._searcher.arrays_of)
        for assessed in self.taken:
            simulation.try_remove(assessed.node.name)
        return simulation

    def _following(self, assessed: AssessedNode) -> tuple[object, ...]:
        """The order of removal, with what the steady state is without before what it keeps."""
        name = assessed.node.name
        place = self._places.get(name, len(self._places))
        return (*self._order.urgency(assessed), name not in self._open, place, *self._order(assessed))

    def _ask_or_keep(self, assessed: AssessedNode) -> None:
        """Take the node, or keep it by the first rule that does: a fault of ours costs that node, never the pass."""
        name = assessed.node.name
        try:
            found = self._first(self._RULES, assessed) or self._take(assessed)
        except Exception as fault:  # noqa: BLE001 - whatever it is, the other nodes can go
            found = (Blocker(Unremovable.UNFORESEEN, "", self._remember_fault(fault)),)
        if found:
            self.kept[name] = found
        # A node that only later drains or time let go stays open.
        if not found or not all(blocker.reason.row.passes for blocker in found):
            self._open.pop(name, None)
        if found and not any(blocker.reason in _LATER for blocker in found):
            self.wave = tuple(other for other in self.wave if other != name)

    def _remember_fault(self, fault: Exception) -> str:
        """Remember a fault, and prove again what was taken: the simulation may have stopped half-way in a change."""
        self._simulation = self._simulation_closing(self.wave)
        self.unforeseen = (*self.unforeseen, f"{type(fault).__name__}: {fault}")
        return self.unforeseen[-1]

    def _first(self, rules: Sequence[KeepRule], assessed: AssessedNode) -> tuple[Blocker, ...]:
        self.times[assessed.node.name] = assessed.estimate.beside(self._waiting)
        return next(filter(None, (rule(self, assessed) for rule in rules)), ())

    def _take(self, assessed: AssessedNode) -> tuple[Blocker, ...]:
        """Prove that the node's pods fit, and count it from now on; or return what has no place."""
        refused = _blockers_of_refusal(self.simulation.try_remove(assessed.node.name))
        if refused:
            return refused
        self._counts = self._counts.with_claim(assessed.node)
        self._moving_pods.update(moving_pods(workload_moves_of(assessed.node, self._situation)))
        self._waiting.update(assessed.estimate.waiting)
        self.saved[assessed.node.name] = self.savings.of(assessed.node)
        self.savings = self.savings.without([assessed.node])
        self.taken.append(assessed)
        return ()

    def _closed_gates(self, assessed: AssessedNode) -> tuple[Blocker, ...]:
        return self._blockers(assessed, waves=self._waves and assessed.node.name in self._places)

    def _blockers(self, assessed: AssessedNode, *, waves: bool) -> tuple[Blocker, ...]:
        """Return the closed gates that bind the node; `waves`: it belongs to a wave."""
        found = blockers(self._counts, assessed.node, assessed.reason)
        return tuple(blocker for blocker in found if blocker.reason in _IN_WAVES) if waves else found

    def _keep_room(self, assessed: AssessedNode) -> tuple[Blocker, ...]:
        """Keep a node that others need as room: what the steady state takes next, or a wave as long as it lives."""
        going = self.wave or tuple(self._open)
        if _goes_anyway(assessed) or not going or assessed.node.name in {*going, *self.simulation.announced}:
            return ()
        first, more = going[0], len(going) - 1
        return (Blocker(Unremovable.KEPT_AS_DESTINATION, first, f"and {more} more" if more else ""),)

    def _not_better(self, assessed: AssessedNode) -> tuple[Blocker, ...]:
        """Keep the nodes with pods while the autoscaler alone does better, but for those that it has announced."""
        if not self._stands_back or _goes_anyway(assessed) or assessed.node.name in self.simulation.announced:
            return ()
        refused = _blockers_of_refusal(self.simulation.refuses(assessed.node.name))
        return refused or (Blocker(Unremovable.AUTOSCALER_DOES_BETTER),)

    def _leave_to_autoscaler(self, assessed: AssessedNode) -> tuple[Blocker, ...]:
        """Leave a node to the autoscaler that has announced it, unless it has more to do than it soon can."""
        # What is to be moved without a gap is not left to it: it makes one.
        announced = self.simulation.announced
        if _goes_anyway(assessed) or assessed.node.name not in announced or len(announced) > SOON:
            return ()
        surging, _ = self._situation.about_moving(assessed.node, surges_of)
        return () if surging else (Blocker(Unremovable.LEFT_TO_AUTOSCALER),)

    def _lasting_gates(self, assessed: AssessedNode) -> tuple[Blocker, ...]:
        """Return the closed gates, unless all of them open as drains end and time passes."""
        asked = self._counts, assessed.node, assessed.reason
        return () if is_only_paced(*asked) else blockers(*asked)

    def _workload_limit(self, assessed: AssessedNode) -> tuple[Blocker, ...]:
        if not self._paced:
            return ()
        shared = conflict(workload_moves_of(assessed.node, self._situation), self._moving_pods)
        return (shared,) if shared else ()

    def _exceeds_deadline(self, assessed: AssessedNode) -> tuple[Blocker, ...]:
        """Refuse a drain that could not end before its deadline even if every pod ended at once."""
        time, deadline = self.times[assessed.node.name], assessed.estimate.deadline
        if time.rounds <= 1 or time.least <= deadline:
            return ()
        least = f"{time.rounds} rounds, at least {time.least.total_seconds():g} s of {deadline.total_seconds():g} s"
        return (Blocker(Unremovable.DRAIN_TOO_LONG, time.limit, least),)

    def _for_too_little(self, assessed: AssessedNode) -> tuple[Blocker, ...]:
        """Keep a node that saves too little once what goes before it is gone: what was taken, and what is open."""
        name = assessed.node.name
        return saves_too_little(assessed, self._situation, self.savings if name in self._open else self._in_the_end)

    @property
    def _in_the_end(self) -> Savings:
        known, found = self._foreseen
        if self.savings.bill.is_list or known == (asked := (len(self.taken), len(self._open))):
            return found
        nodes = self._situation.snapshot.node_by_name
        self._foreseen = asked, self.savings.without(nodes[name] for name in self._open)
        return self._foreseen[1]

    _RULES: ClassVar[tuple[KeepRule, ...]] = (
        _for_too_little,
        _leave_to_autoscaler,
        _closed_gates,
        _workload_limit,
        _exceeds_deadline,
        _keep_room,
        _not_better,
    )
    """What keeps a node whose time has come, in the order in which it is asked; what has no place is found last."""
    _WAITING_RULES: ClassVar[tuple[KeepRule, ...]] = (_lasting_gates, _exceeds_deadline)
    """What would keep one whose time has not come."""


def _blockers_of_refusal(refused: NoPlace | None) -> tuple[Blocker, ...]:
    return (refused.blocker,) if refused else ()


def planned_simulation(
    situation: Situation,
    staying: frozenset[str] = frozenset(),
    closed: Collection[str] = (),
    arrays_of: ArraysOf = ClusterArrays,
) -> Simulation:
    """Return the simulation that proves a plan: every strategy, and the headroom that the policy asks for."""
    # `staying` are nodes that count as if nothing were under way with them; nothing may be put on `closed` ones.
    snapshot, policy = situation.snapshot, situation.policy
    headroom = {pool: policy.pool(pool).headroom_percent for pool in snapshot.nodes_by_pool}
    departing = departing_nodes(snapshot, situation.state) - staying
    announced = announced_nodes(snapshot, departing)
    return Simulation.of(arrays_of(snapshot), departing, headroom, announced=announced, closed=closed)


def savings_of(situation: Situation, prices: Prices) -> Savings:
    """Return what nodes save once those are gone that leave anyway, or that the autoscaler is about to empty."""
    snapshot, commitments = situation.snapshot, situation.policy.commitments
    if not commitments:
        return Savings(Bill(prices))
    departing = departing_nodes(snapshot, situation.state)
    away = departing | announced_nodes(snapshot, departing)
    return Savings.among(snapshot.nodes, away, prices, commitments, situation.now)


def _count_waiting_pods(situation: Situation) -> Counter[str]:
    """Return how many pods of each limit the drains in flight have yet to move."""
    snapshot = situation.snapshot
    found: Counter[str] = Counter()
    for name in departing_nodes(snapshot, situation.state):
        found.update(situation.drain_estimate(snapshot.node_by_name[name]).waiting)
    return found


def departing_nodes(snapshot: Snapshot, state: ClusterState) -> frozenset[str]:
    """Return the nodes on their way out: claimed, with our taint, or being deleted by the autoscaler."""
    return frozenset(node.name for node in snapshot.nodes if is_leaving(node, state.claims))


def announced_nodes(snapshot: Snapshot, departing: Collection[str]) -> frozenset[str]:
    """Return the nodes that the autoscaler has announced to empty itself: it will put their pods into the same room."""
    # One that is not Ready is left out: its pods keep a place as those of every such node do.
    found = (node.name for node in snapshot.nodes if node.is_announced and node.ready)
    return frozenset(found) - frozenset(departing)


def _goes_anyway(assessed: AssessedNode) -> bool:
    return assessed.reason is not DrainReason.UNDERUTILIZED


_URGENCY: Final = {DrainReason.EMPTY: 0, DrainReason.EXPIRED: 1, DrainReason.UNDERUTILIZED: 2}


class RemovalOrder:
    def __init__(self, situation: Situation, savings: Savings) -> None:
        words: Mapping[Preference, Callable[[AssessedNode], object]] = {
            Preference.EXPENSIVE: lambda row: -savings.of(row.node),
            Preference.ON_DEMAND: lambda row: row.node.spot,
            Preference.SPOT: lambda row: not row.node.spot,
            Preference.OLD: lambda row: row.node.created,
        }
        self._preferences = [words[word] for word in situation.policy.prefer]
        self._situation, self._savings = situation, savings

    def urgency(self, assessed: AssessedNode) -> tuple[bool, int]:
        """Return what no other setting overrides."""
        return assessed.avoided, _URGENCY[assessed.reason]

    def __call__(self, assessed: AssessedNode) -> tuple[object, ...]:
        score = assessed.usage.score if assessed.usage else 0
        takes, name = assessed.estimate, assessed.node.name
        preferred = [key(assessed) for key in self._preferences]
        worth, young = -self._savings.of(assessed.node), self._situation.about_moving(assessed.node, young_pods)
        return (*self.urgency(assessed), takes.may_be_late, *preferred, worth, young, score, takes.alone.most, name)
