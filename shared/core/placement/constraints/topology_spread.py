"""Hard topology spread: no domain may hold more than maxSkew matching pods above the emptiest one.

What counts is kube-scheduler's (plugin PodTopologySpread): pods of the namespace that the selector means and that are
not terminating, on nodes that bear every topology key of the pod and that its policies include; a domain without such
pods counts as 0, and so does the least when there are fewer domains than minDomains.

A node on its way out stands there for a while and is then gone, nobody knows when. So the least is taken over the
domains of all nodes but without the pods of those that go, while a domain's own count is taken with them; under
nodeTaintsPolicy: Honor such a node is no domain from its cordon on. Pods that leave are evicted one after another: the
rule must hold with all of the rest still there, and with all of them away; every state between is milder.
Must not know resources, or why a pod moves.
"""

from collections.abc import Callable, Sequence

import numpy as np

from shared.core.cluster.pod_kinds import is_replaced
from shared.core.placement.constraints.constraint import Constraint, ConstraintInput, ConstraintState
from shared.core.placement.constraints.spread_rules import NOWHERE, Asked, SpreadRules
from shared.core.placement.node_filters import NodeMask
from shared.core.rules.unmodelled import is_destination

Counts = dict[int, int]
"""By domain, as far as it is not 0."""


class TopologySpread(Constraint):
    """All hard spread constraints of the cluster: who asks for them, and whom they count."""

    def __init__(self, given: ConstraintInput) -> None:
        self.rules = SpreadRules(given.classes, given.node_filters)
        self.nodes = len(given.snapshot.nodes)
        self.uncertain = [not is_destination(node) for node in given.snapshot.nodes]
        """Nodes whose pods may be gone at any time: not Ready, on their way out, or cordoned."""
        kinds = {spec: kind for kind, spec in enumerate(given.classes)}
        index = {node.name: place for place, node in enumerate(given.snapshot.nodes)}
        self.terminating = [
            (kinds[pod.spec], index[pod.node], is_replaced(pod))
            for pod in given.snapshot.pods
            if pod.deleting is not None and pod.node in index and not pod.phase.finished
        ]

    def concerns(self, kind: int) -> bool:
        """Whether pods of the class ask for a spread, or are counted for one."""
        return bool(self.rules.asked[kind] or self.rules.counting[kind])

    def admits(self, kind: int) -> NodeMask | None:
        asked = self.rules.asked[kind]
        return np.logical_and.reduce([each.rule.topology.keyed for each in asked]) if asked else None

    def state(self) -> "TopologySpreadState":
        found = TopologySpreadState(self)
        for kind, node, replaced in self.terminating:
            found.discount(kind, node, replaced=replaced)
        return found


class TopologySpreadState(ConstraintState):
    """How many pods each rule counts by domain: on nodes that stay, on nodes that go, and on their way."""

    def __init__(self, spread: TopologySpread) -> None:
        self._of = spread
        rules = spread.rules.rules
        self._staying: list[Counts] = [{} for _ in rules]
        self._going: list[Counts] = [{} for _ in rules]
        self._leaving: list[Counts] = [{} for _ in rules]
        self._on: dict[int, Counts] = {}
        """By node and rule, the pods of `staying` and `going`."""
        self._uncertain = set(np.flatnonzero(spread.uncertain).tolist())
        self._closed: set[int] = set()
        self._fleeting = [topology.among(self._uncertain) for topology in spread.rules.topologies]
        """By topology and domain, how many of its nodes go or may go."""
        self._shut: list[Counts] = [{} for _ in spread.rules.topologies]
        """The same for nodes that are closed."""

    def copy(self) -> "TopologySpreadState":
        twin = TopologySpreadState(self._of)
        twin._staying, twin._going, twin._leaving, twin._fleeting, twin._shut = (
            [dict(each) for each in counts]
            for counts in (self._staying, self._going, self._leaving, self._fleeting, self._shut)
        )
        twin._on = {node: dict(counts) for node, counts in self._on.items()}
        twin._uncertain, twin._closed = set(self._uncertain), set(self._closed)
        return twin

    def discount(self, kind: int, node: int, *, replaced: bool) -> None:
        """One of the class's pods on the node is terminating, and counts no more.

        Of one that is not replaced before it is gone the packing tells later that it leaves. Until then it only keeps
        no domain from being the emptiest.
        """
        if replaced:
            self.add(kind, node, -1)
        elif node not in self._uncertain:
            for rule, domain in self._counted(kind, node):
                _count(self._staying[rule], domain, -1)
                _count(self._going[rule], domain, 1)

    def add(self, kind: int, node: int, pods: int = 1) -> None:
        for rule, domain in self._counted(kind, node):
            _count(self._on.setdefault(node, {}), rule, pods)
            self._book(rule, domain, node, pods)

    def leave(self, kind: int, node: int, pods: int = 1) -> None:
        self.add(kind, node, -pods)
        self.evict(kind, node, -pods)

    def evict(self, kind: int, node: int, pods: int = 1) -> None:
        for rule, domain in self._counted(kind, node):
            _count(self._leaving[rule], domain, -pods)

    def bar(self, node: int) -> None:
        if node not in self._uncertain:
            self._rebook(node, self._uncertain.add, self._fleeting, 1)

    def close(self, node: int) -> None:
        self._rebook(node, self._closed.add, self._shut, 1)
        self._tally(node, self._fleeting, int(node not in self._uncertain))

    def reopen(self, node: int) -> None:
        self._rebook(node, self._closed.remove, self._shut, -1)
        self._tally(node, self._fleeting, -int(node not in self._uncertain))

    def allowed(self, kind: int) -> NodeMask | None:
        found: NodeMask | None = None
        for asked in self._of.rules.asked[kind]:
            full = self._full(asked)
            if full:
                mask = asked.rule.topology.outside(full)
                found = mask if found is None else found & mask
        return found

    def _counted(self, kind: int, node: int) -> list[tuple[int, int]]:
        rules = ((rule, int(rule.topology.domains[node])) for rule in self._of.rules.counting[kind])
        return [(rule.place, domain) for rule, domain in rules if domain != NOWHERE]

    def _book(self, rule: int, domain: int, node: int, pods: int) -> None:
        """Count pods where those of the node belong now."""
        if node in self._closed and self._of.rules.rules[rule].honours_taints:
            return
        goes = node in self._closed or node in self._uncertain
        _count(self._going[rule] if goes else self._staying[rule], domain, pods)

    def _rebook(self, node: int, turn: Callable[[int], None], nodes: Sequence[Counts], by: int) -> None:
        rules = self._of.rules.rules
        here = [(rule, int(rules[rule].topology.domains[node]), pods) for rule, pods in self._on.get(node, {}).items()]
        for rule, domain, pods in here:
            self._book(rule, domain, node, -pods)
        turn(node)
        for rule, domain, pods in here:
            self._book(rule, domain, node, pods)
        self._tally(node, nodes, by)

    def _tally(self, node: int, nodes: Sequence[Counts], by: int) -> None:
        for topology, counts in zip(self._of.rules.topologies if by else (), nodes, strict=bool(by)):
            domain = int(topology.domains[node])
            if domain != NOWHERE:
                _count(counts, domain, by)

    def _full(self, asked: Asked) -> set[int]:
        """Return the domains that may take no more."""
        place = asked.rule.place
        staying, going, leaving = self._staying[place], self._going[place], self._leaving[place]
        full = self._above(asked, staying, going)
        if leaving and not asked.rule.honours_taints:
            full |= self._above(asked, _sum(staying, leaving), going)
        return full

    def _above(self, asked: Asked, sure: Counts, going: Counts) -> set[int]:
        topology = asked.rule.topology
        shut = self._shut[topology.place] if asked.rule.honours_taints else {}
        fewest = topology.count - topology.filled(self._fleeting[topology.place])
        most = topology.count - topology.filled(shut)
        least = max(min(sure.values(), default=0), 0) if len(sure) >= most and fewest >= asked.min_domains else 0
        bound = asked.max_skew + least - asked.matches_itself
        return {domain for domain, pods in (_sum(sure, going) if going else sure).items() if pods > bound}


def _count(counts: Counts, place: int, pods: int) -> None:
    counts[place] = counts.get(place, 0) + pods
    if not counts[place]:
        del counts[place]


def _sum(one: Counts, other: Counts) -> Counts:
    return {place: one.get(place, 0) + other.get(place, 0) for place in one.keys() | other.keys()}
