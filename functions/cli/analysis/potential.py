"""How far a cluster could shrink at all: no timer, gate, budget or limit, every safety rule (`--potential`)."""

from collections.abc import Iterable

from shared.core.cluster.node import Node
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement import Candidate, Simulation, search
from shared.core.placement.packing import NOTHING_REACHED, Move, Reached
from shared.core.planning.bill import Bill, Savings
from shared.core.planning.candidates import assess_nodes
from shared.core.planning.plan import Potential
from shared.core.planning.prices import Prices
from shared.core.planning.selection import announced_nodes, departing_nodes, savings_of
from shared.core.planning.steady_state import kept_by_the_autoscaler
from shared.core.rules.nodes import SAFETY_RULES
from shared.core.rules.pod_costs import disruption
from shared.core.rules.situation import Situation


def potential(situation: Situation, prices: Prices, reached: Reached = NOTHING_REACHED) -> Potential:
    """Return how far the cluster could shrink at all.

    It is no less than what is known to be reached: what the autoscaler takes by its own rules goes, too. What was
    reached in many rounds cannot always be proved in one; where it saves more than the search does, it stands.
    """
    snapshot, rows = situation.snapshot, assess_nodes(situation, SAFETY_RULES)
    departing = departing_nodes(snapshot, situation.state)
    could_go = {row.node.name for row in rows if row.is_candidate}
    announced = announced_nodes(snapshot, departing) - could_go
    simulation = Simulation.of(snapshot, departing, announced=announced, robust=False)
    reached = Reached(tuple(name for name in reached.nodes if name not in departing | announced), reached.places)
    nodes = [row.node for row in rows if row.is_candidate or row.node.name in reached.nodes]
    savings = savings_of(situation, prices)
    candidates = _that_could_go_at_all(nodes, situation, savings.bill)
    found = search(simulation, candidates, reached=reached, lost=savings.lost)
    if _worth(reached.nodes, snapshot, savings) > found.saving:
        names, moves = reached.nodes, _as_reached(situation, reached)
    else:
        own = found.simulation.assignments.moves()
        names, moves = found.nodes, tuple(move for name in found.nodes for move in own[name])
    return Potential(names, savings.saving_of(snapshot.node_by_name[name] for name in names), moves)


def _worth(names: Iterable[str], snapshot: Snapshot, savings: Savings) -> int:
    nodes = [snapshot.node_by_name[name] for name in names]
    if savings.bill.is_list:
        return sum(_weight(node, savings.bill.prices) for node in nodes)
    return savings.saving_of(nodes)


def _weight(node: Node, prices: Prices) -> int:
    """Return what the search counts for a node: its price, and 1 if it has none, so that most nodes go."""
    return prices.of(node).per_hour or 1


def _as_reached(situation: Situation, reached: Reached) -> tuple[Move, ...]:
    places = reached.places or {}
    pods = (pod.key for name in reached.nodes for pod in situation.moving(name))
    return tuple(Move(key, places[key]) for key in pods if key in places)


def _that_could_go_at_all(nodes: Iterable[Node], situation: Situation, bill: Bill) -> list[Candidate]:
    """Return the candidates, with what the autoscaler keeps of all that they take; the policy's minimums are none."""
    counts = situation.counts()
    candidates: list[Candidate] = []
    for node in nodes:
        kept = tuple(kept_by_the_autoscaler(node, counts))
        moved = situation.about_moving(node, disruption)
        cost, amounts = _weight(node, bill.prices), bill.amounts(node)
        candidates.append(Candidate(node.name, cost, moved, uses=kept, amounts=amounts))
    return candidates
