"""Where pods with a hard spread were placed, and which of those places would no longer be found.

Only what changed since the last question is looked at, or all places of a constraint whose emptiest domain has become
emptier. Must not count pods by itself: `Skews` tells what they come to.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Protocol

from shared.core.placement.constraints.domain_counts import Counts, count
from shared.core.placement.constraints.spread_rules import Asked, SpreadRule, Topology


class Skews(Protocol):
    """What the counts come to now."""

    def least(self, asked: Asked) -> int:
        """Return how many pods the emptiest domain holds."""
        ...

    def unsure(self, asked: Asked) -> set[int]:
        """Return the domains with pods that may go."""
        ...

    def skew(self, asked: Asked, domain: int) -> int:
        """Return the skew of a pod that left its place in the domain and came back to it."""
        ...


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
        twin._by_rule = {rule: _copied(places) for rule, places in self._by_rule.items()}
        twin._on = {node: _copied(places) for node, places in self._on.items()}
        twin._closed, twin._accepted = set(self._closed), set(self._accepted)
        twin._changed.update((rule, set(domains)) for rule, domains in self._changed.items())
        twin._least.update((topology, dict(least)) for topology, least in self._least.items())
        return twin

    def add(self, asked: Asked, node: int, domain: int, pods: int) -> None:
        count(self._on.setdefault(node, {}).setdefault(asked, {}), domain, pods)
        if node not in self._closed:
            self._count(asked, domain, pods)

    def close(self, node: int) -> None:
        self._closed.add(node)
        self._count_all(node, -1)

    def reopen(self, node: int) -> None:
        self._closed.remove(node)
        self._count_all(node, 1)

    def changed(self, rule: SpreadRule, domain: int) -> None:
        """The rule counts more or fewer pods in the domain."""
        if rule.place in self._by_rule:
            self._changed[rule.place].add(domain)

    def domains_changed(self, topologies: Iterable[Topology]) -> None:
        """There are more or fewer domains: what rested on the emptiest of them is to be looked at again."""
        for topology in topologies:
            for asked in self._least[topology.place]:
                self._changed[asked.rule.place].update()

    def lost(self, skews: Skews) -> Asked | None:
        """Return a constraint that would no longer let one of its pods come back to its place."""
        found = next((asked for asked, domain in self._lost(skews) if (asked, domain) not in self._accepted), None)
        if found is None:
            self._changed.clear()
        return found

    def accept(self, skews: Skews) -> None:
        """Take the places that are lost by now as given."""
        self._accepted.update(self._lost(skews))
        self._changed.clear()

    def _lost(self, skews: Skews) -> Iterator[tuple[Asked, int]]:
        for rule, changed in self._changed.items():
            for asked, places in self._by_rule.get(rule, {}).items():
                known, least = self._least[asked.rule.topology.place], skews.least(asked)
                fresh = places.keys() & (changed | skews.unsure(asked))
                for domain in places if least < known.get(asked, 0) else fresh:
                    if skews.skew(asked, domain) > asked.max_skew:
                        yield asked, domain
                # only now: of a question that ends at its first find the rest has not been looked at
                known.pop(asked, None)
                known.update({asked: least} if least else {})

    def _count(self, asked: Asked, domain: int, pods: int) -> None:
        rule = asked.rule.place
        count(self._by_rule.setdefault(rule, {}).setdefault(asked, {}), domain, pods)
        self._changed[rule].add(domain)

    def _count_all(self, node: int, sign: int) -> None:
        for asked, places in self._on.get(node, {}).items():
            for domain, pods in places.items():
                self._count(asked, domain, sign * pods)


def _copied(places: dict[Asked, Counts]) -> dict[Asked, Counts]:
    return {asked: dict(counts) for asked, counts in places.items()}
