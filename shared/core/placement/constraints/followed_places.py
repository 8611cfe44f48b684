"""Where pods with required affinity were placed, and which of those places they would no longer find.

Only rules whose companions changed since the last question are looked at. Must not know who lies where.
"""

from collections.abc import Callable, Iterator

from shared.core.placement.constraints.affinity_rules import Domains
from shared.core.placement.constraints.domain_counts import count

Follower = tuple[int, int, Domains]
"""A rule, the class that asks for it, and where a pod of it was put."""
Holds = Callable[[int, int, Domains], bool]
"""Whether a pod of the class could come back to the place."""


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
        count(self._on.setdefault(node, {}), follower, pods)
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
        """Return a class of which a pod could not come back to its place."""
        found = next((kind for _, kind, _ in self._lost(holds)), None)
        if found is None:
            self._changed.clear()
        return found

    def accept(self, holds: Holds) -> None:
        """Tell no more of what is lost now."""
        self._accepted.update(self._lost(holds))
        self._changed.clear()

    def _lost(self, holds: Holds) -> Iterator[Follower]:
        for rule in sorted(self._changed):
            yield from (each for each in self._by_rule[rule] if each not in self._accepted and not holds(*each))

    def _count(self, follower: Follower, pods: int) -> None:
        count(self._by_rule.setdefault(follower[0], {}), follower, pods)
        self._changed.add(follower[0])
