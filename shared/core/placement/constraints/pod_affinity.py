"""Required pod affinity: a pod may go only where pods that it asks for lie in the same domain.

What counts is kube-scheduler's (plugin InterPodAffinity). A pod that all terms mean counts for the domain of each term;
a node must bear all topology keys and lie, key by key, in a domain that counts a pod. If no such pod lies on any node
with one of the keys, a pod that its own terms mean may go to any node with all of them: the first of its group.

Only the pods that move are asked; those that stay need nothing when their companions leave. What a pod may rely on
is what will be there whatever happens first: a pod on a node that stays, or one that got a new place. Pods that may be
gone at any time (on a node on its way out, terminating, or still without a node) switch off the exception of the first
pod while they are there, and bring it back when they are not: where there are only such, the place must do for both.
Must not know resources, or why a pod moves.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from shared.core.cluster.node import Node
from shared.core.cluster.pod import PodClass
from shared.core.cluster.selectors import PodTerm
from shared.core.cluster.snapshot import Snapshot
from shared.core.placement.constraints.constraint import Constraint, ConstraintInput, ConstraintState
from shared.core.placement.constraints.domain_counts import NOWHERE, Counts, count
from shared.core.placement.constraints.term_matches import TermMatches
from shared.core.placement.constraints.topology import TopologyDomains
from shared.core.placement.node_filters import NodeMask
from shared.core.rules.unmodelled import is_destination


class RequiredAffinity(Constraint):
    """All affinity of the cluster. A rule is the whole of what one pod asks: its terms hold together."""

    def __init__(self, given: ConstraintInput) -> None:
        classes, snapshot = given.classes, given.snapshot
        rules = list(dict.fromkeys(spec.affinity for spec in classes if spec.affinity))
        places = {terms: place for place, terms in enumerate(rules)}
        keys = [tuple(dict.fromkeys(term.topology_key for term in terms)) for terms in rules]
        known = {key: TopologyDomains(given.node_filters, key) for row in keys for key in row}
        self.domains = [tuple(known[key] for key in row) for row in keys]
        """By rule, the domains of each of its keys."""
        self.asked = [places.get(spec.affinity) for spec in classes]
        self.matched_by = _matched_by(classes, rules, TermMatches(classes if rules else (), snapshot.namespaces))
        self.nodes = len(snapshot.nodes)
        self.passing = [place for place, node in enumerate(snapshot.nodes) if not _stays(node, snapshot)]
        """Nodes whose pods may be gone at any time: not Ready, on their way out, cordoned, or in an upgrade."""
        kinds = {spec: kind for kind, spec in enumerate(classes)} if rules else {}
        homes = {node.name for node in snapshot.nodes if node.ready}
        self.waiting = {kinds[pod.spec] for pod in snapshot.pods if pod.node not in homes and pod.spec in kinds}
        """Classes with pods that wait for a place: of a pod that gets one in the proof nobody knows if it ever will."""
        self.uncertain = tuple(self._uncertain(snapshot, kinds))

    def concerns(self, kind: int) -> bool:
        """Whether pods of the class ask for others, or are asked for."""
        return self.asked[kind] is not None or bool(self.matched_by[kind])

    def admits(self, kind: int) -> NodeMask | None:
        rule = self.asked[kind]
        if rule is None:
            return None
        return _all(domains.keyed() for domains in self.domains[rule])

    def state(self) -> "RequiredAffinityState":
        found = RequiredAffinityState(self)
        for node in self.passing:
            found.bar(node)
        for kind, node, certain in self.uncertain:
            found.correct(kind, node, certain)
        return found

    def _uncertain(self, snapshot: Snapshot, kinds: dict[PodClass, int]) -> Iterator[tuple[int, int, int]]:
        """Yield class and node of pods that `add` counts on the wrong side, and how many are to be relied on for it."""
        index = {node.name: place for place, node in enumerate(snapshot.nodes)}
        for pod in snapshot.pods if kinds else ():
            if pod.node in index and not pod.phase.finished:
                kind = kinds[pod.spec]
                certain = int(pod.deleting is None) - int(kind not in self.waiting)
                if certain and self.matched_by[kind]:
                    yield kind, index[pod.node], certain


class RequiredAffinityState(ConstraintState):
    """How many pods each rule means, by domain: those to rely on, and those that may be gone.

    Every node with any key of a rule is in some domain of each, the one without a key in NOWHERE: a pod there counts
    for no domain of that key, but it is there.
    """

    def __init__(self, affinity: RequiredAffinity) -> None:
        self._of = affinity
        self._sure: list[tuple[Counts, ...]] = [tuple({} for _ in keys) for keys in affinity.domains]
        self._unsure: list[tuple[Counts, ...]] = [tuple({} for _ in keys) for keys in affinity.domains]
        self._on: dict[int, Counts] = {}
        """By node and rule, the pods that are as sure as their node."""
        self._shut: Counts = {}
        """By node, how often it was closed."""

    def copy(self) -> "RequiredAffinityState":
        twin = RequiredAffinityState(self._of)
        twin._sure, twin._unsure = (
            [tuple(dict(counts) for counts in keys) for keys in table] for table in (self._sure, self._unsure)
        )
        twin._on = {node: dict(counts) for node, counts in self._on.items()}
        twin._shut = dict(self._shut)
        return twin

    def add(self, kind: int, node: int, pods: int = 1) -> None:
        for rule in self._of.matched_by[kind]:
            if kind in self._of.waiting:
                self._book(self._unsure, rule, node, pods)
            else:
                self._lay(rule, node, pods)

    def leave(self, kind: int, node: int, pods: int = 1) -> None:
        """They stand there until they are evicted, on a node that is closed."""

    def evict(self, kind: int, node: int, pods: int = 1) -> None:
        for rule in self._of.matched_by[kind]:
            self._lay(rule, node, -pods)

    def correct(self, kind: int, node: int, pods: int) -> None:
        """Of the pods that `add` is told of, so many more are as sure as their node."""
        for rule in self._of.matched_by[kind]:
            self._lay(rule, node, pods)
            self._book(self._unsure, rule, node, -pods)

    def bar(self, node: int) -> None:
        self.close(node)

    def close(self, node: int) -> None:
        self._shift(node, 1)

    def reopen(self, node: int) -> None:
        self._shift(node, -1)

    def allowed(self, kind: int) -> NodeMask | None:
        rule = self._of.asked[kind]
        if rule is None:
            return None
        domains, sure, unsure = self._of.domains[rule], self._sure[rule], self._unsure[rule]
        if any(sure):
            return _all(each.nodes_in(counts) for each, counts in zip(domains, sure, strict=True))
        if rule not in self._of.matched_by[kind]:
            return np.zeros(self._of.nodes, np.bool_)
        if any(unsure):
            return _all(each.nodes_in(_common(counts)) for each, counts in zip(domains, unsure, strict=True))
        return None

    def _lay(self, rule: int, node: int, pods: int) -> None:
        count(self._on.setdefault(node, {}), rule, pods)
        self._book(self._unsure if node in self._shut else self._sure, rule, node, pods)

    def _book(self, table: Sequence[Sequence[Counts]], rule: int, node: int, pods: int) -> None:
        places = [int(domains.codes[node]) for domains in self._of.domains[rule]]
        if any(place != NOWHERE for place in places):
            for counts, place in zip(table[rule], places, strict=True):
                count(counts, place, pods)

    def _shift(self, node: int, by: int) -> None:
        """Close the node once more, or once less."""
        before = node in self._shut
        count(self._shut, node, by)
        if before != (node in self._shut):
            for rule, pods in self._on.get(node, {}).items():
                self._book(self._unsure, rule, node, by * pods)
                self._book(self._sure, rule, node, -by * pods)


def _common(domains: Counts) -> Sequence[int]:
    """Return the domain that all the pods share, if they do."""
    return tuple(domains) if len(domains) == 1 else ()


def _all(masks: Iterable[NodeMask]) -> NodeMask:
    found: NodeMask = np.logical_and.reduce(tuple(masks))
    return found


def _stays(node: Node, snapshot: Snapshot) -> bool:
    pool = snapshot.pools.get(node.pool)
    return is_destination(node) and not (pool and pool.upgrading)


def _matched_by(
    classes: Sequence[PodClass], rules: Sequence[tuple[PodTerm, ...]], matches: TermMatches
) -> list[tuple[int, ...]]:
    """Return for each class the rules of which all terms mean it."""
    found: list[list[int]] = [[] for _ in classes]
    for place, terms in enumerate(rules):
        for kind in set.intersection(*(set(matches.of(term)) for term in terms)):
            found[kind].append(place)
    return [tuple(each) for each in found]
