"""How many pods one spread rule counts by domain, so that neither a pod placed nor a question costs a look at them all.

Only domains with pods are kept: thousands of rules over hostnames would otherwise cost as much as rules times nodes. A
rule with many of them has an array beside, which is asked for all nodes at once. Must not know nodes or rules.
"""

from collections.abc import Hashable
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
_ENDLESS: Final = 2**62
"""What no domain holds: there is no other domain to compare with."""


def count(counts: dict[_Key, int], place: _Key, pods: int) -> int:
    """Add pods at a place; return how many are there now."""
    found = counts.get(place, 0) + pods
    if found:
        counts[place] = found
    else:
        counts.pop(place, None)
    return found


class DomainCounts:
    """The counts of one rule over a fixed number of domains.

    What is not known lies between two numbers: a domain holds its lasting pods at least, and at most all that are there
    for now and those that leave it one after another.
    """

    def __init__(self, domains: int) -> None:
        self._domains = domains
        self._all: Counts = {}
        self._lasting: Counts = {}
        self._levels: Counts = {}
        """By number of lasting pods, how many domains have so many; of those that have any."""
        self.unsure: set[int] = set()
        """The domains with pods that do not last."""
        self._leaving: Counts = {}
        self._array: NDArray[np.int64] | None = None
        """The same as `_all`, once many domains have pods; one place more, for `NOWHERE`."""

    def copy(self) -> "DomainCounts":
        twin = DomainCounts(self._domains)
        twin._all, twin._lasting, twin._levels = dict(self._all), dict(self._lasting), dict(self._levels)
        twin.unsure, twin._leaving = set(self.unsure), dict(self._leaving)
        twin._array = None if self._array is None else self._array.copy()
        return twin

    def add(self, domain: int, pods: int, *, lasting: int) -> None:
        """Count pods that are there for now, and those of them that will not go away with their node."""
        found = count(self._all, domain, pods)
        now = count(self._lasting, domain, lasting)
        for level, by in ((now - lasting, -1), (now, 1)) if lasting else ():
            if level:
                count(self._levels, level, by)
        if found != now:
            self.unsure.add(domain)
        else:
            self.unsure.discard(domain)
        if self._array is not None:
            self._array[domain] = found

    def leave(self, domain: int, pods: int) -> None:
        """Count pods on their way from a node that is being emptied; they are in none of the other counts."""
        count(self._leaving, domain, pods)

    def at(self, domain: int) -> int:
        """Return how many pods a domain may hold."""
        return self._all.get(domain, 0) + self._leaving.get(domain, 0)

    def least(self, domains: int, but: int = NOWHERE) -> int:
        """Return how many lasting pods each of so many domains has at least; one is not looked at."""
        mine = self._lasting.get(but, 0)
        if domains - len(self._lasting) > int(but != NOWHERE and not mine):
            return 0
        levels = (level for level, having in self._levels.items() if level != mine or having > 1)
        return max(min(levels, default=_ENDLESS), 0)

    def taking(self, spare: int, domains: int, nodes: NDArray[np.int64]) -> NodeMask | None:
        """Return which nodes lie in domains that hold at most so many pods more than any other; None = all.

        `domains`: how many there are to compare with; 0: every domain is compared with none. `nodes` holds the domain
        of each node; those of `NOWHERE` are let through.
        """
        bound = spare + (self.least(domains) if domains else 0)
        exact = self._exactly(spare, domains) if self._leaving or self.unsure else {}
        if self._array is None and len(self._all) * _DENSE > self._domains + _DENSE * _DENSE:
            self._array = self._counted()
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

    def emptiest(self, nodes: NDArray[np.int64], among: NodeMask) -> NodeMask:
        """Return which of some nodes lie in domains with the fewest pods; `nodes` holds the domain of each."""
        if not among.any():
            return among
        counts = self._counted()[nodes]
        found: NodeMask = among & (counts == counts[among].min())
        return found

    def _counted(self) -> NDArray[np.int64]:
        found = np.zeros(self._domains + 1, np.int64)
        found[list(self._all)] = list(self._all.values())
        return found

    def _exactly(self, spare: int, domains: int) -> dict[int, bool]:
        """Say of each domain that its number of pods alone does not decide about whether it takes one more.

        A domain is never compared with itself, which matters where it is the only one that is emptiest.
        """
        asked = {*self._leaving, *(self.unsure if domains and self._has_one_emptiest(domains) else ())}
        return {each: self.at(each) <= spare + (self.least(domains, each) if domains else 0) for each in asked}

    def _has_one_emptiest(self, domains: int) -> bool:
        empty = domains - len(self._lasting)
        return empty == 1 or (not empty and self._levels.get(min(self._levels, default=0)) == 1)


def _outside(domains: set[int], count: int, nodes: NDArray[np.int64]) -> NodeMask | None:
    if not domains:
        return None
    # one more place than domains: NOWHERE, which is the last index, falls on it
    open_ = np.ones(count + 1, np.bool_)
    open_[list(domains)] = False
    mask: NodeMask = open_[nodes]
    return mask
