"""Many nodes in few words: whole pools by their name, of the others the first nodes and how many more there are.

Must not choose the nodes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from functions.cli.format import count
from functions.cli.plan.layout import shared_beginning

_FEW: Final = 3
"""Nodes of a pool that are named."""
_MOST_POOLS: Final = 4
_NO_POOL: Final = "no pool"


class NodeNamer:
    """Names nodes of one cluster; `cut` leaves out what the names of a pool begin with, for a terminal."""

    def __init__(self, pools: Mapping[str, str], *, cut: bool) -> None:
        """Take the pool of each node."""
        self._pools = pools
        self._all = _by_pool(pools, pools)
        self._begin = {pool: shared_beginning(own) if cut else "" for pool, own in self._all.items()}

    def said(self, names: Iterable[str], leaving: str = "") -> str:
        """Return the nodes in words, the most of a pool first; `leaving` is the node that a pool counts without."""
        found = sorted(_by_pool(names, self._pools).items(), key=lambda each: (-len(each[1]), each[0]))
        told = [self._of_pool(pool, own, leaving) for pool, own in found[:_MOST_POOLS]]
        rest = found[_MOST_POOLS:]
        if rest:
            told.append(f"{sum(len(own) for _, own in rest):,} of {count(len(rest), 'more pool')}")
        return "; ".join(told)

    def _of_pool(self, pool: str, own: Sequence[str], leaving: str) -> str:
        name, others = pool or _NO_POOL, [each for each in self._all[pool] if each != leaving]
        if len(own) == len(others) and len(own) > 1:
            return f"all {len(own):,} of {name}"
        first = ", ".join(self._cut(each, pool) for each in sorted(own)[:_FEW])
        more = f" and {len(own) - _FEW:,} more" if len(own) > _FEW else ""
        return f"{first}{more} of {name}"

    def _cut(self, name: str, pool: str) -> str:
        begin = self._begin[pool]
        return f"…{name.removeprefix(begin)}" if begin else name


def _by_pool(names: Iterable[str], pools: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(pools[name], []).append(name)
    return found
