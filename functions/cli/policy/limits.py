"""How many nodes of a pool the policy lets go at one instant, and the word that decides: asked of the core's functions.

Where a pool's size is not known a percentage stays one; the core's own arithmetic over a hundred nodes gives it.
Must not know days or hours.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from functions.cli.format import moment
from functions.cli.policy.words import in_words
from shared.core.policy import Budget, Policy, Rate
from shared.core.reasons import DrainReason
from shared.core.rules.budgets import Calendar, freeze_in_force, limit_now, starts_left, window_open

_HUNDRED: Final = 100
"""So many nodes make a percentage and its number the same."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many nodes the pools have, as far as somebody said."""

    pools: Mapping[str, int] = field(default_factory=dict)
    total: int | None = None
    """Of the whole cluster."""


@dataclass(frozen=True, slots=True)
class NodeLimit:
    """At most so many nodes, and (of a pool of unknown size) at most that share; both None is no limit."""

    count: int | None
    percent: int | None
    why: str

    @property
    def none(self) -> bool:
        return self.count == 0

    @property
    def amount(self) -> str:
        share = "" if self.percent is None else f"{self.percent}%"
        number = "" if self.count is None else str(self.count)
        return "/".join(part for part in (number, share) if part) or "all"

    def rank(self) -> tuple[float, float]:
        """Return what sorts the most restrictive first; a share counts as that of a hundred nodes."""
        known = [each for each in (self.count, self.percent) if each is not None]
        return (min(known, default=float("inf")), -len(known))


def node_limit(policy: Policy, pool: str, sizes: Sizes, reason: DrainReason, calendar: Calendar) -> NodeLimit:
    """Return how many nodes of the pool may go at the calendar's moment: the smallest of all limits, first named."""
    limits = tuple(_limits(policy, pool, sizes, reason, calendar))
    counts = [each for each in limits if each.count is not None]
    shares = [each for each in limits if each.percent is not None]
    least = min(counts, key=lambda each: each.count or 0, default=None)
    share = min(shares, key=lambda each: each.percent or 0, default=None)
    if least is None or share is None:
        return least or share or NodeLimit(None, None, "nothing limits it")
    if least.none:
        return least
    return NodeLimit(least.count, share.percent, f"the smaller of {least.why} and {share.why}")


def _limits(policy: Policy, pool: str, sizes: Sizes, reason: DrainReason, calendar: Calendar) -> Iterator[NodeLimit]:
    """Yield every limit in force, in the order of the gates (`gates.CLAIM_GATES`)."""
    own = policy.pool(pool)
    freeze = freeze_in_force(policy.freezes, calendar.now)
    if freeze is not None:
        yield NodeLimit(0, None, f"freeze until {moment(freeze.end)}")
    if not window_open(own.windows, calendar):
        yield NodeLimit(0, None, "no window is open")
    nodes = sizes.pools.get(pool)
    yield from _budgets(own.budgets, "budget", nodes, reason, calendar)
    yield from _of_cluster(_budgets(policy.budgets, "cluster budget", sizes.total, reason, calendar))
    yield from _of_cluster(_rate(policy.rate, "cluster rate", sizes.total, calendar))
    yield from _rate(own.rate, "rate", nodes, calendar)


def _of_cluster(limits: Iterable[NodeLimit]) -> Iterator[NodeLimit]:
    """Leave out a share of a cluster of unknown size: it says nothing of one pool."""
    return (each for each in limits if each.count is not None)


def _budgets(
    budgets: tuple[Budget, ...], word: str, nodes: int | None, reason: DrainReason, calendar: Calendar
) -> Iterator[NodeLimit]:
    if nodes is not None:
        yield from _decisive(budgets, word, nodes, reason, calendar)
        return
    yield from _decisive([each for each in budgets if each.nodes.percent is None], word, 0, reason, calendar)
    shares = [each for each in budgets if each.nodes.percent is not None]
    yield from (_as_share(each) for each in _decisive(shares, word, _HUNDRED, reason, calendar))


def _decisive(
    budgets: Iterable[Budget], word: str, nodes: int, reason: DrainReason, calendar: Calendar
) -> Iterator[NodeLimit]:
    """Yield the limit of these budgets, if there is one, with the first budget that sets it alone."""
    rows = tuple(budgets)
    limit = limit_now(rows, reason, nodes, calendar)
    if limit is not None:
        decides = next(each for each in rows if limit_now((each,), reason, nodes, calendar) == limit)
        yield NodeLimit(limit, None, f"{word} {in_words(decides)}")


def _rate(rate: Rate | None, word: str, nodes: int | None, calendar: Calendar) -> Iterator[NodeLimit]:
    if rate is None:
        return
    limit = starts_left(rate, (), _HUNDRED if nodes is None else nodes, calendar.now)
    found = NodeLimit(limit, None, f"{word} {in_words(rate)}")
    yield _as_share(found) if nodes is None and rate.nodes.percent is not None else found


def _as_share(node_limit: NodeLimit) -> NodeLimit:
    """Return a limit of a hundred nodes as the percentage that it is; none of them is none of any number."""
    return node_limit if node_limit.none else NodeLimit(None, node_limit.count, node_limit.why)
