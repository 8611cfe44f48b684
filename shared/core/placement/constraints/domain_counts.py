"""How many pods one spread rule counts by domain, so that neither a pod placed nor a question costs a look at them all.

Only domains with pods are kept: thousands of rules over hostnames would otherwise cost as much as rules times nodes. A
rule with many of them has an array beside, which is asked for all nodes at once. Must not know nodes or rules.
"""

from collections.abc import Hashable, Iterable
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from shared.core.placement.node_filters import NodeMask

_Key = TypeVar("_Key", bound=Hashable)
Counts = dict[int, int]
"""By domain or node, as far as it is not 0."""
NOWHERE: Final = -1
"""The domain of nodes that a rule leaves out."""
_DENSE: Final = 64
"""With pods in one of so many domains, or more of them, a rule keeps an array of all."""


def count(counts: dict[_Key, int], place: _Key, pods: int) -> int:
    """Add pods at a place; return how many are there now."""
    found = counts.get(place, 0) + pods
    if found:
        counts[place] = found
    else:
        counts.pop(place, None)
    return found


class DomainCounts:
    """The counts of one rule over a fixed number of domains."""

    def __init__(self, domains: int) -> None:
        self._domains = domains
        self._all: Counts = {}
        self._lasting: Counts = {}
        self._levels: Counts = {}
        """By number of lasting pods, how many domains have so many; of those that have any."""
        self.leaving: Counts = {}
        """Pods on their way from a node that is being emptied; in none of the other counts."""
        self._array: NDArray[np.int64] | None = None

    def copy(self) -> "DomainCounts":
        twin = DomainCounts(self._domains)
        twin._all, twin._lasting, twin._levels = dict(self._all), dict(self._lasting), dict(self._levels)
        twin.leaving = dict(self.leaving)
        twin._array = None if self._array is None else self._array.copy()
        return twin

    def add(self, domain: int, pods: int) -> None:
        """Count pods that are there for now."""
        found = count(self._all, domain, pods)
        if self._array is not None:
            self._array[domain] = found

    def last(self, domain: int, pods: int) -> None:
        """Of the pods there, so many more will not go away with their node."""
        now = count(self._lasting, domain, pods)
        for level, by in ((now - pods, -1), (now, 1)):
            if level:
                count(self._levels, level, by)

    def at(self, domain: int) -> int:
        return self._all.get(domain, 0)

    def lasting_at(self, domain: int) -> int:
        return self._lasting.get(domain, 0)

    def least(self, domains: int) -> int:
        """Return how many lasting pods each of so many domains has at least."""
        return max(min(self._levels), 0) if len(self._lasting) >= domains and self._levels else 0

    def least_with_leaving(self, domains: int) -> int:
        """Return the same as long as none of the leaving pods has gone."""
        for domain, pods in self.leaving.items():
            self.last(domain, pods)
        found = self.least(domains)
        for domain, pods in self.leaving.items():
            self.last(domain, -pods)
        return found

    def crowded_by_leaving(self, bound: int) -> list[int]:
        """Return the domains that hold more than so many pods as long as none of the leaving ones has gone."""
        return [domain for domain, pods in self.leaving.items() if self.at(domain) + pods > bound]

    def up_to(self, bound: int, nodes: NDArray[np.int64], but: Iterable[int]) -> NodeMask | None:
        """Return which nodes lie in a domain of at most so many pods and in none of some others; None = all.

        `nodes` holds the domain of each node; those of `NOWHERE` are let through.
        """
        if self._array is None and len(self._all) * _DENSE > self._domains + _DENSE * _DENSE:
            self._array = np.zeros(self._domains + 1, np.int64)
            self._array[list(self._all)] = list(self._all.values())
        if self._array is None:
            return _outside([*(each for each, pods in self._all.items() if pods > bound), *but], self._domains, nodes)
        mask = self._array <= bound
        mask[list(but)] = False
        mask[NOWHERE] = True
        return mask[nodes]


def _outside(domains: list[int], count: int, nodes: NDArray[np.int64]) -> NodeMask | None:
    if not domains:
        return None
    # one more place than domains: NOWHERE, which is the last index, falls on it
    open_ = np.ones(count + 1, np.bool_)
    open_[domains] = False
    mask: NodeMask = open_[nodes]
    return mask
