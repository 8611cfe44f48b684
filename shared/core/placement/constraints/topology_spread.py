"""Hard topology spread: no domain may hold more than maxSkew matching pods above the emptiest one (PodTopologySpread).

A node on its way out stands there for a while and is then gone, nobody knows when, and pods that leave are evicted one
after another. So a domain's own pods are taken with all of these, and those of the others without any; every state
between is milder. Under nodeTaintsPolicy: Honor a node that has our taint is no domain any more; one that the
autoscaler has only announced still is, for that taint is soft. What is placed elsewhere can lift the least, and what
leaves later can lower it again: a place counts only if the pod could be put there again when all is done (`misplaced`;
docs/decisions/robust-fit.md).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, KeysView

import numpy as np

from shared.core.cluster.pod import is_replaced
from shared.core.placement.constraints.constraint import Constraint, ConstraintInput, ConstraintState, allowed_by_all
from shared.core.placement.constraints.domain_counts import NOWHERE, Counts, DomainCounts, TwinRows, add_count
from shared.core.placement.constraints.spread_rules import Asked, DepartingDomains, SpreadRule, SpreadRules, Topology
from shared.core.placement.node_filters import NodeMask


class TopologySpread(Constraint):
    def __init__(self, given: ConstraintInput) -> None:
        self.rules = SpreadRules(given.classes, given.node_filters, given.matches)
        self.uncertain = given.unsteady(given.staying)
        """Nodes whose pods may be gone at any time: not Ready, on their way out, or cordoned."""
        nodes = given.snapshot.nodes
        self.announced = frozenset(place for place, node in enumerate(nodes) if node.is_announced)
        self.terminating = [
            (kind, node, is_replaced(pod) or not given.foresees) for kind, node, pod in given.terminating
        ]

    def concerns(self, kind: int) -> bool:
        return bool(self.rules.spreads[kind] or self.rules.counting[kind])

    def admits(self, kind: int) -> NodeMask | None:
        spread = self.rules.spreads[kind]
        return np.logical_and.reduce([asked.rule.topology.nodes_with_key for asked in spread]) if spread else None

    def state(self) -> "TopologySpreadState":
        found = TopologySpreadState(self)
        for kind, node, replaced in self.terminating:
            found.discount(kind, node, replaced=replaced)
        return found


class SpreadPlaces:
    """Placed pods by constraint and domain; those on closed nodes are left out, for they will be placed again."""

    def __init__(self) -> None:
        self._by_rule: dict[int, dict[Asked, Counts]] = {}
        self._on: dict[int, dict[Asked, Counts]] = {}
        self._closed: set[int] = set()
        self._changed: dict[int, set[int]] = defaultdict(set)
        """By rule, the domains whose pods have changed since the last question."""
        self._least: dict[int, dict[Asked, int]] = defaultdict(dict)
        """By topology, what the emptiest domain held at the last question, if anything."""
        self._accepted: set[tuple[Asked, int]] = set()

    def copy(self) -> "SpreadPlaces":
        twin = SpreadPlaces()
        twin._by_rule = {rule: _copy_places(places) for rule, places in self._by_rule.items()}
        twin._on = {node: _copy_places(places) for node, places in self._on.items()}
        twin._closed, twin._accepted = set(self._closed), set(self._accepted)
        twin._changed.update((rule, set(domains)) for rule, domains in self._changed.items())
        twin._least.update((topology, dict(least)) for topology, least in self._least.items())
        return twin

    def add(self, spread: Asked, node: int, domain: int, pods: int) -> None:
        add_count(self._on.setdefault(node, {}).setdefault(spread, {}), domain, pods)
        if node not in self._closed:
            self._count(spread, domain, pods)

    def close(self, node: int) -> None:
        self._closed.add(node)
        self._count_all(node, -1)

    def reopen(self, node: int) -> None:
        self._closed.remove(node)
        self._count_all(node, 1)

    def note_change(self, rule: SpreadRule, domain: int) -> None:
        """The rule counts more or fewer pods in the domain."""
        if rule.place in self._by_rule:
            self._changed[rule.place].add(domain)

    def domains_changed(self, topologies: Iterable[Topology]) -> None:
        """There are more or fewer domains: what rested on the emptiest of them is to be looked at again."""
        for topology in topologies:
            for spread in self._least[topology.place]:
                self._changed[spread.rule.place].update()

    def lost(self, skews: "TopologySpreadState") -> Asked | None:
        fresh = (row for row in self._lost_ones(skews) if row not in self._accepted)
        found, _ = next(fresh, (None, None))
        if found is None:
            self._changed.clear()
        return found

    def accept_misplaced(self, skews: "TopologySpreadState") -> None:
        self._accepted.update(self._lost_ones(skews))
        self._changed.clear()

    def _lost_ones(self, skews: "TopologySpreadState") -> Iterator[tuple[Asked, int]]:
        for rule, changed in self._changed.items():
            for spread, places in self._by_rule.get(rule, {}).items():
                known, least = self._least[spread.rule.topology.place], skews.least(spread)
                fresh = places.keys() & (changed | skews.unsure(spread))
                for domain in places if least < known.get(spread, 0) else fresh:
                    if skews.skew(spread, domain) > spread.max_skew:
                        yield spread, domain
                # only now: of a question that ends at its first find the rest has not been looked at
                known.pop(spread, None)
                known.update({spread: least} if least else {})

    def _count(self, spread: Asked, domain: int, pods: int) -> None:
        rule = spread.rule.place
        add_count(self._by_rule.setdefault(rule, {}).setdefault(spread, {}), domain, pods)
        self._changed[rule].add(domain)

    def _count_all(self, node: int, sign: int) -> None:
        for spread, places in self._on.get(node, {}).items():
            for domain, pods in places.items():
                self._count(spread, domain, sign * pods)


class NoPlaces(SpreadPlaces):
    """What a packing keeps that nobody asks for lost places: nothing."""

    def copy(self) -> "NoPlaces":
        return self

    def _keep_nothing(self, *args: object, **more: object) -> None:
        del args, more

    add = close = reopen = note_change = domains_changed = _keep_nothing


def _copy_places(places: dict[Asked, Counts]) -> dict[Asked, Counts]:
    return {spread: dict(counts) for spread, counts in places.items()}


class TopologySpreadState(ConstraintState):
    """How many pods each rule counts by domain, and which of them will not go away with their node."""

    # A copy shares with its twin what neither has changed since: of thousands of rules a search touches few.

    def __init__(self, spread: TopologySpread) -> None:
        self._of = spread.rules
        self._counts = TwinRows(
            (DomainCounts(rule.topology.domain_count) for rule in self._of.rules), DomainCounts.copy
        )
        self._on: dict[int, Counts] = {}  # By node and rule, the pods counted.
        self._own_nodes: set[int] = set()
        self._going = DepartingDomains(self._of.topologies, spread.uncertain, spread.announced)
        self._places: SpreadPlaces = SpreadPlaces()

    def copy(self) -> "TopologySpreadState":
        twin = object.__new__(TopologySpreadState)
        twin._of, twin._counts, twin._on = self._of, self._counts.copy(), dict(self._on)
        twin._going, twin._places = self._going.copy(), self._places.copy()
        self._own_nodes, twin._own_nodes = set(), set()
        return twin

    def discount(self, kind: int, node: int, *, replaced: bool) -> None:
        """One of the class's pods on the node is terminating, and counts no more."""
        # Of one that is not replaced before it is gone the packing reports later that it leaves; until then it only
        # keeps no domain from being the emptiest.
        if replaced:
            self.add(kind, node, -1)
        else:
            self.presume(kind, node)

    def add(self, kind: int, node: int, pods: int = 1) -> None:
        for rule, domain in self._counting_rules(kind, node):
            if node not in self._own_nodes:  # a copy that may be changed
                self._own_nodes.add(node)
                self._on[node] = dict(self._on.get(node, {}))
            add_count(self._on[node], rule.place, pods)
            self._book(rule, domain, node, pods)

    def place(self, kind: int, node: int, pods: int = 1) -> None:
        self.add(kind, node, pods)
        for spread in self._of.spreads[kind]:
            domain = spread.rule.topology.domain_of[node]
            if domain != NOWHERE:
                self._places.add(spread, node, domain, pods)

    def presume(self, kind: int, node: int) -> None:
        if not self._going.may_go(node):
            for rule, domain in self._counting_rules(kind, node):
                self._counts.mine(rule.place).add(domain, 0, lasting=-1)

    def leave(self, kind: int, node: int, pods: int = 1) -> None:
        self.add(kind, node, -pods)
        self.evict(kind, node, -pods)

    def evict(self, kind: int, node: int, pods: int = 1) -> None:
        for rule, domain in self._counting_rules(kind, node):
            # Not by what is closed by now: what leaves is counted before its node is closed, or after.
            if self._going.stays_domain(node) or not rule.honours_taints:
                self._counts.mine(rule.place).leave(domain, -pods)
                self._places.note_change(rule, domain)

    def stop_filling(self, node: int) -> None:
        self._rebook(node, self._going.stop_filling)

    def close(self, node: int) -> None:
        self._rebook(node, self._going.close)
        self._places.close(node)

    def reopen(self, node: int) -> None:
        self._rebook(node, self._going.reopen)
        self._places.reopen(node)

    def allowed_nodes(self, kind: int) -> NodeMask | None:
        masks = []
        for spread in self._of.spreads[kind]:
            spare, nodes = spread.max_skew - spread.matches_itself, spread.rule.topology.domains
            masks.append(self._counts[spread.rule.place].taking(spare, self._most_domains(spread), nodes))
        return allowed_by_all(masks)

    def allows(self, kind: int, node: int) -> bool:
        for spread in self._of.spreads[kind]:
            domain = spread.rule.topology.domain_of[node]
            counts, spare = self._counts[spread.rule.place], spread.max_skew - spread.matches_itself
            if domain != NOWHERE and not counts.takes(spare, self._most_domains(spread), domain):
                return False
        return True

    def find_misplaced(self) -> int | None:
        found = self._places.lost(self)
        return None if found is None else self._of.asking[found]

    def preferred_nodes(self, kind: int, nodes: NodeMask) -> NodeMask:
        for spread in self._of.spreads[kind]:
            nodes = self._counts[spread.rule.place].emptiest(spread.rule.topology.domains, nodes)
        return nodes

    def accept_misplaced(self) -> None:
        self._places.accept_misplaced(self)

    def unfollow(self) -> None:
        self._places = NoPlaces()

    def least(self, spread: Asked) -> int:
        domains = self._most_domains(spread)
        return self._counts[spread.rule.place].least(domains) if domains else 0

    def unsure(self, spread: Asked) -> KeysView[int]:
        return self._counts[spread.rule.place].unsure

    def skew(self, spread: Asked, domain: int) -> int:
        counts, domains = self._counts[spread.rule.place], self._most_domains(spread)
        return counts.at(domain) - (counts.least(domains, but=domain) if domains else 0)

    def _counting_rules(self, kind: int, node: int) -> Iterator[tuple[SpreadRule, int]]:
        for rule in self._of.counting[kind]:
            domain = rule.topology.domain_of[node]
            if domain != NOWHERE:
                yield rule, domain

    def _book(self, rule: SpreadRule, domain: int, node: int, pods: int) -> None:
        """Count pods as what those of the node are now."""
        if self._going.is_tainted(node) and rule.honours_taints:
            return
        self._counts.mine(rule.place).add(domain, pods, lasting=0 if self._going.may_go(node) else pods)
        self._places.note_change(rule, domain)

    def _rebook(self, node: int, turn: Callable[[int], list[Topology]]) -> None:
        here = [(self._of.rules[place], pods) for place, pods in self._on.get(node, {}).items()]
        for rule, pods in here:
            self._book(rule, rule.topology.domain_of[node], node, -pods)
        self._places.domains_changed(turn(node))
        for rule, pods in here:
            self._book(rule, rule.topology.domain_of[node], node, pods)

    def _most_domains(self, spread: Asked) -> int:
        """Return how many domains there may be; 0 if they may be too few for the constraint, and the least is 0."""
        topology = spread.rule.topology
        if self._going.fewest(topology) < spread.min_domains:
            return 0
        return self._going.most(topology, honours_taints=spread.rule.honours_taints)
