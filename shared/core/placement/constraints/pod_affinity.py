"""Required pod affinity: a pod may go only where pods that it asks for lie in the same domain.

What counts is kube-scheduler's (plugin InterPodAffinity). A pod that all terms mean counts for the domain of each term;
a node must bear all topology keys and lie, key by key, in a domain that counts a pod. If no such pod lies on any node
with one of the keys, a pod that its own terms mean may go to any node with all of them: the first of its group.

Only pods that move are asked; those that stay need nothing when their companions leave. A drain evicts several pods at
once, and several nodes are drained at once. So a pod relies only on companions that stay where the picture shows them:
those are there whatever happens first. All others may be in their old place, in their new one, or nowhere for now: pods
that move, that are terminating, or whose node may go. While there, they keep a pod from being the first of its group;
so where there are only such, it is placed in the domain that all of them share, which does for each state between.
Must not know resources, or why a pod moves.
"""

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from shared.core.placement.constraints.affinity_rules import AffinityRules, Domains, terminating, unsteady_nodes
from shared.core.placement.constraints.constraint import Constraint, ConstraintInput, ConstraintState
from shared.core.placement.constraints.domain_counts import Counts, count
from shared.core.placement.constraints.followed_places import FollowedPlaces
from shared.core.placement.constraints.twin_rows import TwinRows
from shared.core.placement.node_filters import NodeMask

RuleCounts = TwinRows[tuple[Counts, ...]]
"""By rule and key, what lies in each domain."""


class RequiredAffinity(Constraint):
    """All required affinity of the cluster: who asks for whom."""

    def __init__(self, given: ConstraintInput) -> None:
        self.rules = AffinityRules(given.classes, given.snapshot, given.node_filters)
        self.nodes = len(given.snapshot.nodes)
        self._unsteady = unsteady_nodes(given.snapshot)
        kinds = {spec: kind for kind, spec in enumerate(given.classes)}
        self._terminating = terminating(kinds, given.snapshot)

    def concerns(self, kind: int) -> bool:
        """Whether pods of the class ask for others, or are asked for."""
        return self.rules.asked[kind] is not None or bool(self.rules.meant_by[kind])

    def admits(self, kind: int) -> NodeMask | None:
        rule = self.rules.asked[kind]
        return None if rule is None else _all(domains.keyed() for domains in self.rules.domains[rule])

    def state(self) -> "RequiredAffinityState":
        found = RequiredAffinityState(self)
        for node in self._unsteady:
            found.bar(node)
        for kind, node in self._terminating:
            found.doubt(kind, node)
        return found


class RequiredAffinityState(ConstraintState):
    """How many pods each rule means, by key and domain: those to rely on, and those that may be gone."""

    def __init__(self, affinity: RequiredAffinity) -> None:
        self._of = affinity
        self._rules = affinity.rules
        self._sure, self._unsure = self._nobody(), self._nobody()
        self._left = self._nobody()
        """Where pods that ask for the same as they are asked for were evicted."""
        self._on: dict[int, Counts] = {}
        """By node and rule, the pods that the picture shows there."""
        self._shut: Counts = {}
        """By node, how often it was closed."""
        self._places = FollowedPlaces()

    def copy(self) -> "RequiredAffinityState":
        twin = object.__new__(RequiredAffinityState)
        twin._of, twin._rules = self._of, self._rules
        twin._sure, twin._unsure, twin._left = self._sure.copy(), self._unsure.copy(), self._left.copy()
        twin._on = {node: dict(counts) for node, counts in self._on.items()}
        twin._shut, twin._places = dict(self._shut), self._places.copy()
        return twin

    def _nobody(self) -> RuleCounts:
        return TwinRows((tuple({} for _ in keys) for keys in self._rules.domains), _copied)

    def add(self, kind: int, node: int, pods: int = 1) -> None:
        for rule in self._rules.meant_by[kind]:
            count(self._on.setdefault(node, {}), rule, pods)
            self._book(self._unsure if node in self._shut else self._sure, rule, node, pods)

    def place(self, kind: int, node: int, pods: int = 1) -> None:
        for rule in self._rules.meant_by[kind]:
            self._book(self._unsure, rule, node, pods)
        asked = self._rules.asked[kind]
        if asked is not None and (place := self._rules.place(asked, node)) is not None:
            self._places.add((asked, kind, place), node, pods, is_open=node not in self._shut)

    def leave(self, kind: int, node: int, pods: int = 1) -> None:
        """They stand there until they are evicted, on a node that is closed."""

    def evict(self, kind: int, node: int, pods: int = 1) -> None:
        """Count them off where they are, and as pods that were there: nobody knows whose turn comes first."""
        self.add(kind, node, -pods)
        for rule in self._rules.meant_by[kind]:
            self._book(self._left if rule == self._rules.asked[kind] else self._unsure, rule, node, pods)

    def doubt(self, kind: int, node: int) -> None:
        """One of the pods that `add` tells of there is terminating."""
        self.add(kind, node, -1)
        for rule in self._rules.meant_by[kind]:
            self._book(self._unsure, rule, node, 1)

    def bar(self, node: int) -> None:
        self.close(node)

    def close(self, node: int) -> None:
        self._shift(node, 1)

    def reopen(self, node: int) -> None:
        self._shift(node, -1)

    def allowed(self, kind: int) -> NodeMask | None:
        rule = self._rules.asked[kind]
        company = None if rule is None else self._company(rule, kind, self._left[rule])
        if rule is None or company is None:
            return None
        return _all(each.nodes_in(found) for each, found in zip(self._rules.domains[rule], company, strict=True))

    def misplaced(self) -> int | None:
        return self._places.lost(self._holds)

    def accept(self) -> None:
        self._places.accept(self._holds)

    def _company(self, rule: int, kind: int, left: Sequence[Counts]) -> Sequence[Collection[int]] | None:
        """Return by key the domains in which a pod is beside whom it asks for; None: it is the first of its group.

        Of those that have left one may be the pod itself.
        """
        sure, unsure = self._sure[rule], self._unsure[rule]
        if any(sure) or not self._rules.may_be_first(kind):
            return sure
        if not any(unsure) and sum(left[0].values()) <= 1:
            return None
        both = [each.keys() | gone.keys() for each, gone in zip(unsure, left, strict=True)]
        return [each if len(each) == 1 else () for each in both]

    def _holds(self, rule: int, kind: int, place: Domains) -> bool:
        company = self._company(rule, kind, [{} for _ in place])
        return company is None or all(domain in found for domain, found in zip(place, company, strict=True))

    def _book(self, table: RuleCounts, rule: int, node: int, pods: int) -> None:
        place = self._rules.place(rule, node)
        if place is not None:
            for counts, domain in zip(table.mine(rule), place, strict=True):
                count(counts, domain, pods)
            if table is self._sure or not any(self._sure[rule]):
                self._places.companions_changed(rule)

    def _shift(self, node: int, by: int) -> None:
        """Close the node once more, or once less."""
        before = node in self._shut
        count(self._shut, node, by)
        if before == (node in self._shut):
            return
        for rule, pods in self._on.get(node, {}).items():
            self._book(self._unsure, rule, node, by * pods)
            self._book(self._sure, rule, node, -by * pods)
        if by > 0:
            self._places.close(node)
        else:
            self._places.reopen(node)


def _copied(keys: tuple[Counts, ...]) -> tuple[Counts, ...]:
    return tuple(dict(counts) for counts in keys)


def _all(masks: Iterable[NodeMask]) -> NodeMask:
    found: NodeMask = np.logical_and.reduce(tuple(masks))
    return found
