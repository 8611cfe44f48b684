"""How many pods a rule counts by topology domain, and which pod classes an inter-pod term means.

Only domains with pods are kept: thousands of rules over hostnames would otherwise cost rules times nodes; a rule with
many has an array as well. Copies share a row until one of them changes it, because the search copies thousands.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, KeysView, Mapping, Sequence
from itertools import chain, repeat, starmap
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from shared.core.cluster.pod import PodClass
from shared.core.cluster.selectors import NO_LABELS, Labels, LabelSelector, PodTerm
from shared.core.placement.node_filters import Codes, NodeFilters, NodeMask

_Key = TypeVar("_Key", bound=Hashable)
Counts = dict[int, int]  # By domain or node, as far as it is not 0.
NOWHERE: Final = -1  # The domain of nodes that a rule leaves out.
_DENSE: Final = 64  # With pods in one of so many domains, or more of them, a rule keeps an array of all.
_ENDLESS: Final = 2**62  # What no domain holds: there is no other domain to compare with.


def add_count(counts: dict[_Key, int], place: _Key, pods: int) -> int:
    """Add pods at a place; return how many are there now."""
    found = counts.get(place, 0) + pods
    if found:
        counts[place] = found
    else:
        counts.pop(place, None)
    return found


def repeat_counted(counts: Mapping[_Key, int]) -> Iterator[_Key]:
    return chain.from_iterable(starmap(repeat, counts.items()))


class DomainCounts:
    """The counts of one rule; what is not known lies between the lasting pods and all that are there for now."""

    def __init__(self, domains: int) -> None:
        self._domains = domains
        self._all: Counts = {}
        self._passing: Counts = {}  # Those of all that do not last.
        self._levels: Counts = {}  # By number of lasting pods, how many domains have so many; of those that have any.
        self._lived_in = 0  # How many domains have lasting pods.
        self._leaving: Counts = {}
        self._array: NDArray[np.int64] | None = None
        """The same as `_all`, once many domains have pods; one place more, for `NOWHERE`."""

    def copy(self) -> "DomainCounts":
        twin = DomainCounts(self._domains)
        twin._all, twin._passing, twin._levels = dict(self._all), dict(self._passing), dict(self._levels)
        twin._lived_in, twin._leaving = self._lived_in, dict(self._leaving)
        twin._array = None if self._array is None else self._array.copy()
        return twin

    def add(self, domain: int, pods: int, *, lasting: int) -> None:
        """Count pods that are there for now, and those of them that will not go away with their node."""
        found = add_count(self._all, domain, pods)
        passing = self._passing.get(domain, 0) if pods == lasting else add_count(self._passing, domain, pods - lasting)
        if lasting:
            self._level(found - passing - lasting, found - passing)
        if self._array is not None:
            self._array[domain] = found

    def _level(self, before: int, now: int) -> None:
        if before:
            add_count(self._levels, before, -1)
        if now:
            add_count(self._levels, now, 1)
        self._lived_in += bool(now) - bool(before)

    @property
    def unsure(self) -> KeysView[int]:
        return self._passing.keys()

    def leave(self, domain: int, pods: int) -> None:
        """Count pods on their way from a node that is being emptied; they are in none of the other counts."""
        add_count(self._leaving, domain, pods)

    def at(self, domain: int) -> int:
        """Return how many pods a domain may hold."""
        return self._all.get(domain, 0) + self._leaving.get(domain, 0)

    def least(self, domains: int, but: int = NOWHERE) -> int:
        """Return how many lasting pods each of so many domains has at least; one is not looked at."""
        mine = self._all.get(but, 0) - self._passing.get(but, 0)
        if domains - self._lived_in > int(but != NOWHERE and not mine):
            return 0
        levels = (level for level, having in self._levels.items() if level != mine or having > 1)
        return max(min(levels, default=_ENDLESS), 0)

    def taking(self, spare: int, domains: int, nodes: NDArray[np.int64]) -> NodeMask | None:
        """Return which nodes lie in domains that hold at most so many pods more than any other; None = all."""
        # `domains` is how many there are to compare with; 0: with none. `nodes` has each one's domain; NOWHERE passes.
        bound = spare + (self.least(domains) if domains else 0)
        exact = self._exactly(spare, domains) if self._leaving or self._passing else {}
        if self._array is None and len(self._all) * _DENSE > self._domains + _DENSE * _DENSE:
            self._array = self._count_by_domain()
        if self._array is None:
            crowded = {domain for domain, pods in self._all.items() if pods > bound}
            crowded.difference_update(exact)
            crowded.update(domain for domain, takes in exact.items() if not takes)
            return _outside(crowded, self._domains, nodes)
        mask = self._array <= bound
        for domain, takes in exact.items():
            mask[domain] = takes
        mask[NOWHERE] = True
        return mask[nodes]

    def takes(self, spare: int, domains: int, domain: int) -> bool:
        """Whether the nodes of one domain are among those that `taking` returns."""
        exactly = domain in self._leaving or (domain in self._passing and self._is_compared_exactly(domains))
        holds = self.at(domain) if exactly else self._all.get(domain, 0)
        return holds <= spare + (self.least(domains, domain if exactly else NOWHERE) if domains else 0)

    def emptiest(self, nodes: NDArray[np.int64], among: NodeMask) -> NodeMask:
        if not among.any():
            return among
        counts = self._count_by_domain()[nodes]
        found: NodeMask = among & (counts == counts[among].min())
        return found

    def _count_by_domain(self) -> NDArray[np.int64]:
        found = np.zeros(self._domains + 1, np.int64)
        found[list(self._all)] = list(self._all.values())
        return found

    def _exactly(self, spare: int, domains: int) -> dict[int, bool]:
        """Return each domain whose number of pods alone does not decide whether it takes one more."""
        # A domain is never compared with itself, which matters where it is the only one that is emptiest.
        asked = {*self._leaving, *(self._passing if self._is_compared_exactly(domains) else ())}
        return {one: self.at(one) <= spare + (self.least(domains, one) if domains else 0) for one in asked}

    def _is_compared_exactly(self, domains: int) -> bool:
        """Whether there are domains to compare with, and one of them alone is the emptiest."""
        empty = domains - self._lived_in
        alone = empty == 1 or (not empty and self._levels.get(min(self._levels, default=0)) == 1)
        return domains > 0 and alone


def _outside(domains: set[int], count: int, nodes: NDArray[np.int64]) -> NodeMask | None:
    if not domains:
        return None
    # one more place than domains: NOWHERE, which is the last index, falls on it
    open_ = np.ones(count + 1, np.bool_)
    open_[list(domains)] = False
    mask: NodeMask = open_[nodes]
    return mask


class TopologyDomains:
    def __init__(self, codes: Codes) -> None:
        self._codes = codes
        self._size = int(codes.max(initial=NOWHERE)) + 1
        self.of: list[int] = codes.tolist()  # By node.

    @classmethod
    def of_label(cls, node_filters: NodeFilters, key: str) -> "TopologyDomains":
        column = node_filters.label(key)
        absent = column.values.index(None) if None in column.values else NOWHERE
        return cls(np.where(column.codes == absent, NOWHERE, column.codes))

    def nodes_in(self, domains: Collection[int]) -> NodeMask:
        # one more place than domains: NOWHERE, which is the last index, falls on it
        chosen = np.zeros(self._size + 1, np.bool_)
        chosen[list(domains)] = True
        chosen[NOWHERE] = False
        return chosen[self._codes]

    def nodes_with_key(self) -> NodeMask:
        keyed: NodeMask = self._codes != NOWHERE
        return keyed


_Row = TypeVar("_Row")


class TwinRows(Generic[_Row]):
    """Rows by place. Read them with `[place]`, and change only what `mine` returns."""

    def __init__(self, rows: Iterable[_Row], copied: Callable[[_Row], _Row]) -> None:
        self._rows = list(rows)
        self._copied = copied
        self._own = set(range(len(self._rows)))

    def __getitem__(self, place: int) -> _Row:
        return self._rows[place]

    def mine(self, place: int) -> _Row:
        if place not in self._own:
            self._own.add(place)
            self._rows[place] = self._copied(self._rows[place])
        return self._rows[place]

    def copy(self) -> "TwinRows[_Row]":
        """Return an independent twin; from now on neither changes a row in place that both have."""
        twin = TwinRows(self._rows, self._copied)
        twin._own, self._own = set(), set()
        return twin


_NONE: Sequence[int] = ()
_Value = TypeVar("_Value")


def by_class(classes: int, pairs: Iterable[tuple[int, _Value]]) -> list[tuple[_Value, ...]]:
    """Return for each class what the pairs (class, value) have for it, in their order."""
    rows: list[list[_Value]] = [[] for _ in range(classes)]
    for kind, value in pairs:
        rows[kind].append(value)
    return [tuple(row) for row in rows]


class TermMatches:
    def __init__(self, classes: Sequence[PodClass], namespaces: Mapping[str, Labels]) -> None:
        self._classes = classes
        self._namespaces = namespaces
        self._within: dict[str, list[int]] = {}
        self._bearing: dict[tuple[str, str, str], list[int]] = {}
        for kind, spec in enumerate(classes):
            self._within.setdefault(spec.namespace, []).append(kind)
            for key, value in spec.labels.items():
                self._bearing.setdefault((spec.namespace, key, value), []).append(kind)

    def of(self, term: PodTerm) -> Iterator[int]:
        return (kind for namespace in self._namespaces_of(term) for kind in self.within(namespace, term.selector))

    def within(self, namespace: str, selector: LabelSelector | None) -> Iterator[int]:
        """Yield each class of the namespace that the selector matches, once."""
        if selector is not None and namespace in self._within:
            near = self._near(namespace, selector)
            yield from (kind for kind in near if selector.matches(self._classes[kind].labels))

    def _namespaces_of(self, term: PodTerm) -> Iterator[str]:
        if term.namespace_selector is None:
            yield from sorted(set(term.namespaces))
            return
        for namespace in self._within:
            labels = self._namespaces.get(namespace, NO_LABELS)
            if namespace in term.namespaces or term.namespace_selector.matches(labels):
                yield namespace

    def _near(self, namespace: str, selector: LabelSelector) -> Sequence[int]:
        """Return the classes of the namespace among which the selector's are: as few as one of its labels selects."""
        single = (row for row in selector.requirements if row.operator == "In" and len(row.values) == 1)
        rows = (self._bearing.get((namespace, row.key, row.values[0]), _NONE) for row in single)
        return min(rows, key=len, default=self._within[namespace])
