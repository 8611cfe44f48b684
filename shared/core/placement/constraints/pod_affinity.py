"""Required pod affinity: a pod may go only where pods that it asks for are in the same domain (InterPodAffinity).

A pod that all terms mean counts for the domain of each; where there is none on any node with one of the keys, a pod
that its own terms mean may go to any node with all of them: the first of its group. Only pods that move are asked. A
pod relies only on companions that stay where the snapshot shows them; all others may be in their old place, in their
new one, or nowhere for now. While there, they keep a pod from being the first: it goes into the domain they share.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import numpy as np

from shared.core.placement.constraints.constraint import Constraint, ConstraintInput, ConstraintState
from shared.core.placement.constraints.domain_counts import (
    NOWHERE,
    Counts,
    TopologyDomains,
    TwinRows,
    add_count,
    by_class,
)
from shared.core.placement.node_filters import NodeMask

Domains = tuple[int, ...]  # A node's domain for each key of a rule.


RuleCounts = TwinRows[tuple[Counts, ...]]  # By rule and key, what lies in each domain.


class RequiredAffinity(Constraint):
    """The rules of all classes: by class what it asks, and which rules mean it."""

    def __init__(self, given: ConstraintInput) -> None:
        classes, node_filters = given.classes, given.node_filters
        rules = list(dict.fromkeys(spec.affinity for spec in classes if spec.affinity))
        numbers = {terms: rule for rule, terms in enumerate(rules)}
        keys = [tuple(dict.fromkeys(term.topology_key for term in terms)) for terms in rules]
        known = {key: TopologyDomains.of_label(node_filters, key) for row in keys for key in row}
        self.domains = [tuple(known[key] for key in row) for row in keys]  # By rule, the domains of each of its keys.
        self.rule_of = [numbers.get(spec.affinity) for spec in classes]
        meant = (set.intersection(*(set(given.matches.of(term)) for term in terms)) for terms in rules)
        rows = ((kind, rule) for rule, kinds in enumerate(meant) for kind in kinds)
        self.meant_by: list[tuple[int, ...]] = by_class(len(classes), rows)
        """By class, the rules of which all terms mean it."""
        self._unsteady = given.unsteady(given.destinations)
        """The nodes whose pods may be gone at any time: not Ready, on their way out, cordoned, or in an upgrade."""
        self._terminating = given.terminating

    def place(self, rule: int, node: int) -> Domains | None:
        """Return the node's domains; None: it has none of the keys, and what lies on it is nobody's companion."""
        found = tuple(domains.of[node] for domains in self.domains[rule])
        return found if any(domain != NOWHERE for domain in found) else None

    def concerns(self, kind: int) -> bool:
        return self.rule_of[kind] is not None or bool(self.meant_by[kind])

    def admits(self, kind: int) -> NodeMask | None:
        rule = self.rule_of[kind]
        return None if rule is None else _all(domains.nodes_with_key() for domains in self.domains[rule])

    def state(self) -> "RequiredAffinityState":
        found = RequiredAffinityState(self)
        for node in self._unsteady:
            found.stop_filling(node)
        for kind, node, _ in self._terminating:
            found.doubt(kind, node)
        return found


class RequiredAffinityState(ConstraintState):
    """How many pods each rule means, by key and domain: those to rely on, and those that may be gone."""

    def __init__(self, rules: RequiredAffinity) -> None:
        self._rules = rules
        self._sure, self._unsure = self._nobody(), self._nobody()
        self._left = self._nobody()  # Where pods that ask for the same as they are asked for were evicted.
        self._on: dict[int, Counts] = {}  # By node and rule, the pods that the snapshot shows there.
        self._shut: Counts = {}  # By node, how often it was closed.
        self._places = FollowedPlaces()

    def copy(self) -> "RequiredAffinityState":
        twin = object.__new__(RequiredAffinityState)
        twin._rules = self._rules
        twin._sure, twin._unsure, twin._left = self._sure.copy(), self._unsure.copy(), self._left.copy()
        twin._on = {node: dict(counts) for node, counts in self._on.items()}
        twin._shut, twin._places = dict(self._shut), self._places.copy()
        return twin

    def _nobody(self) -> RuleCounts:
        return TwinRows((tuple({} for _ in keys) for keys in self._rules.domains), lambda rows: tuple(map(dict, rows)))

    def add(self, kind: int, node: int, pods: int = 1) -> None:
        for rule in self._rules.meant_by[kind]:
            add_count(self._on.setdefault(node, {}), rule, pods)
            self._book(self._unsure if node in self._shut else self._sure, rule, node, pods)

    def place(self, kind: int, node: int, pods: int = 1) -> None:
        for rule in self._rules.meant_by[kind]:
            self._book(self._unsure, rule, node, pods)
        own = self._rules.rule_of[kind]
        if own is not None and (place := self._rules.place(own, node)) is not None:
            self._places.add((own, kind, place), node, pods, is_open=node not in self._shut)

    def leave(self, kind: int, node: int, pods: int = 1) -> None:
        """They stand there until they are evicted, on a node that is closed."""

    def evict(self, kind: int, node: int, pods: int = 1) -> None:
        """Count them off where they are, and as pods that were there: nobody knows whose turn comes first."""
        self.add(kind, node, -pods)
        for rule in self._rules.meant_by[kind]:
            self._book(self._left if rule == self._rules.rule_of[kind] else self._unsure, rule, node, pods)

    def doubt(self, kind: int, node: int) -> None:
        """One of the pods that `add` counts there is terminating."""
        self.add(kind, node, -1)
        for rule in self._rules.meant_by[kind]:
            self._book(self._unsure, rule, node, 1)

    def stop_filling(self, node: int) -> None:
        self.close(node)

    def close(self, node: int) -> None:
        self._shift(node, 1)

    def reopen(self, node: int) -> None:
        self._shift(node, -1)

    def allowed_nodes(self, kind: int) -> NodeMask | None:
        rule = self._rules.rule_of[kind]
        company = None if rule is None else self._company(rule, kind, self._left[rule])
        if rule is None or company is None:
            return None
        return _all(domain.nodes_in(found) for domain, found in zip(self._rules.domains[rule], company, strict=True))

    def allows(self, kind: int, node: int) -> bool:
        rule = self._rules.rule_of[kind]
        company = None if rule is None else self._company(rule, kind, self._left[rule])
        if rule is None or company is None:
            return True
        own = (domains.of[node] for domains in self._rules.domains[rule])
        return all(domain != NOWHERE and domain in found for domain, found in zip(own, company, strict=True))

    def find_misplaced(self) -> int | None:
        return self._places.lost(self._holds)

    def accept_misplaced(self) -> None:
        self._places.accept_misplaced(self._holds)

    def _company(self, rule: int, kind: int, left: Sequence[Counts]) -> Sequence[Collection[int]] | None:
        """Return by key the domains in which a pod has the companion it asks for."""
        # None: it is the first of its group.
        # Of those that have left one may be the pod itself.
        sure, unsure = self._sure[rule], self._unsure[rule]
        # A class that is meant by what it asks itself may come where none is yet.
        if any(sure) or rule not in self._rules.meant_by[kind]:
            return sure
        if not any(unsure) and sum(left[0].values()) <= 1:
            return None
        both = [counts.keys() | gone.keys() for counts, gone in zip(unsure, left, strict=True)]
        return [domains if len(domains) == 1 else () for domains in both]

    def _holds(self, rule: int, kind: int, place: Domains) -> bool:
        company = self._company(rule, kind, [{} for _ in place])
        return company is None or all(domain in found for domain, found in zip(place, company, strict=True))

    def _book(self, table: RuleCounts, rule: int, node: int, pods: int) -> None:
        place = self._rules.place(rule, node)
        if place is not None:
            for counts, domain in zip(table.mine(rule), place, strict=True):
                add_count(counts, domain, pods)
            if table is self._sure or not any(self._sure[rule]):
                self._places.companions_changed(rule)

    def _shift(self, node: int, by: int) -> None:
        before = node in self._shut
        add_count(self._shut, node, by)
        if before == (node in self._shut):
            return
        for rule, pods in self._on.get(node, {}).items():
            self._book(self._unsure, rule, node, by * pods)
            self._book(self._sure, rule, node, -by * pods)
        if by > 0:
            self._places.close(node)
        else:
            self._places.reopen(node)


def _all(masks: Iterable[NodeMask]) -> NodeMask:
    found: NodeMask = np.logical_and.reduce(tuple(masks))
    return found


Follower = tuple[int, int, Domains]  # A rule, the class that asks for it, and where one of its pods was put.
Holds = Callable[[int, int, Domains], bool]  # Whether a pod of the class could come back to the place.


class FollowedPlaces:
    """Placed pods by rule; those on closed nodes are left out, for they will be placed again."""

    def __init__(self) -> None:
        self._by_rule: dict[int, dict[Follower, int]] = {}
        self._on: dict[int, dict[Follower, int]] = {}
        self._changed: set[int] = set()
        self._accepted: set[Follower] = set()

    def copy(self) -> "FollowedPlaces":
        twin = FollowedPlaces()
        twin._by_rule = {rule: dict(places) for rule, places in self._by_rule.items()}
        twin._on = {node: dict(places) for node, places in self._on.items()}
        twin._changed, twin._accepted = set(self._changed), set(self._accepted)
        return twin

    def add(self, follower: Follower, node: int, pods: int, *, is_open: bool) -> None:
        add_count(self._on.setdefault(node, {}), follower, pods)
        if is_open:
            self._count(follower, pods)

    def close(self, node: int) -> None:
        for follower, pods in self._on.get(node, {}).items():
            self._count(follower, -pods)

    def reopen(self, node: int) -> None:
        for follower, pods in self._on.get(node, {}).items():
            self._count(follower, pods)

    def companions_changed(self, rule: int) -> None:
        if rule in self._by_rule:
            self._changed.add(rule)

    def lost(self, holds: Holds) -> int | None:
        found = next((kind for _, kind, _ in self._lost_ones(holds)), None)
        if found is None:
            self._changed.clear()
        return found

    def accept_misplaced(self, holds: Holds) -> None:
        self._accepted.update(self._lost_ones(holds))
        self._changed.clear()

    def _lost_ones(self, holds: Holds) -> Iterator[Follower]:
        for rule in sorted(self._changed):
            yield from (number for number in self._by_rule[rule] if number not in self._accepted and not holds(*number))

    def _count(self, follower: Follower, pods: int) -> None:
        add_count(self._by_rule.setdefault(follower[0], {}), follower, pods)
        self._changed.add(follower[0])
