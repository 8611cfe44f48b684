"""The figures of pools: which columns say something of this plan, and what stands in them.

What is printed of the pools adds up to what is printed of all of them. Must not know how wide a terminal is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from functions.cli.analysis.pool_summaries import GOING, PoolSummary, whole_cluster
from functions.cli.format import monthly, monthly_parts
from functions.cli.plan.view import PlanView
from shared.core.planning.plan import Verdict

ALL: Final = "all pools"
NONE: Final = "-"


@dataclass(frozen=True, slots=True)
class PoolColumn:
    """One column: its title, a shorter one, its cell of each row, and whether it stays where room is short."""

    title: str
    short: str
    cell: Callable[[PoolSummary], str]
    style: str = ""
    needed: bool = False
    meaning: str = ""
    """What the title does not say by itself."""


def rows(view: PlanView, most: int | None = None) -> tuple[PoolSummary, ...]:
    """Return the pools, and all of them where there are several; of more than `most` the lesser ones are one row."""
    pools = view.pools if most is None or len(view.pools) <= most else _with_rest(view, most - 1)
    return (*pools, view.whole) if len(pools) > 1 else pools


def columns(view: PlanView, given: Sequence[PoolSummary]) -> tuple[PoolColumn, ...]:
    """Return the columns besides name, nodes and bars, without those that say nothing of any pool."""
    could, rest = view.potential is not None, view.ladder is not None
    go, green = not (could or rest), "bold green"
    found = (
        PoolColumn("order", "order", _count(*GOING), green, needed=go),
        PoolColumn("in flight", "flight", _count(Verdict.IN_FLIGHT), "cyan"),
        PoolColumn("waiting", "wait", _count(Verdict.WAITING), "yellow"),
        PoolColumn("keep", "keep", _count(Verdict.KEEP)),
        PoolColumn("cost/mo", "cost/mo", _money(given, lambda pool: pool.cost), needed=True),
        PoolColumn("order/mo", "order/mo", _money(given, lambda pool: pool.saving), green, needed=go),
        PoolColumn("goes", "goes", lambda pool: f"{pool.rest_go:,}" if pool.rest_go else NONE, green, needed=rest,
                   meaning="gone at rest"),
        PoolColumn("goes/mo", "goes/mo", _money(given, lambda pool: pool.rest_save), green, needed=rest),
        PoolColumn("could go", "could", lambda pool: f"{pool.could_go:,}" if pool.could_go else NONE, needed=could,
                   meaning="by the safety rules alone"),
        PoolColumn("could/mo", "could/mo", _money(given, lambda pool: pool.could_save), needed=could),
    )  # fmt: skip
    return tuple(each for each in found if each.needed or each.cell(view.whole) != NONE)


def name_of(pool: PoolSummary) -> str:
    return ALL if pool.pool is None else pool.pool or "no pool"


def _with_rest(view: PlanView, most: int) -> tuple[PoolSummary, ...]:
    ranked = sorted(view.pools, key=lambda pool: (-pool.rest_save, -pool.could_save, -pool.cost, name_of(pool)))
    named = {pool.pool for pool in ranked[:most]}
    others = [node.decision for node in view.nodes if node.decision.pool not in named]
    gone = view.ladder.ladder.gone if view.ladder else ()
    rest = whole_cluster(others, view.potential.nodes if view.potential else (), gone)
    title = f"{len(view.pools) - most:,} more pools"
    return (*(pool for pool in view.pools if pool.pool in named), replace(rest, pool=title))


def _count(*verdicts: Verdict) -> Callable[[PoolSummary], str]:
    def cell(pool: PoolSummary) -> str:
        found = sum(pool.verdicts.get(each, 0) for each in verdicts)
        return f"{found:,}" if found else NONE

    return cell


def _money(given: Sequence[PoolSummary], amount: Callable[[PoolSummary], int]) -> Callable[[PoolSummary], str]:
    """Return cells of which the pools' add up to that of all."""
    pools = [pool for pool in given if pool.pool is not None]
    parts = monthly_parts([amount(pool) for pool in pools])
    told: Mapping[str | None, str] = {pool.pool: part for pool, part in zip(pools, parts, strict=True)}

    def cell(pool: PoolSummary) -> str:
        return told.get(pool.pool) or monthly(amount(pool)) if amount(pool) else NONE

    return cell
