"""What differs from one policy to another: settings, verdicts of nodes, what it comes to; and all that on a terminal.

Must not judge: the core planned the same picture twice, `words` writes the settings.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final

from rich.console import Console
from rich.table import Table

from functions.cli.analysis.forecast.ladder import Ladder
from functions.cli.format import count
from functions.cli.plan.sentences import VERDICTS
from functions.cli.policy.ladder_change import HEADS, headline, rows
from functions.cli.policy.words import CLUSTER, cluster_settings, pool_settings
from shared.core.planning.plan import NodeDecision, Plan
from shared.core.policy import Policy

SAME: Final = "Nothing changes: the same settings hold."
NOTHING: Final = "Nothing changes: the same settings hold, and every node keeps its verdict."


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """One thing that was so and will be otherwise; `place` is the pool of a node, or whose setting it is."""

    place: str
    name: str
    old: str
    new: str


def settings(old: Policy, new: Policy) -> tuple[PolicyChange, ...]:
    """Return the effective settings that differ: the cluster's, each pool's, and those of pools that neither names."""
    pools = sorted({*old.pools, *new.pools})
    sections = [(CLUSTER, cluster_settings(old), cluster_settings(new))]
    sections += [(f"pool {name}", pool_settings(old.pool(name)), pool_settings(new.pool(name))) for name in pools]
    sections += [("every other pool", pool_settings(old.other_pools), pool_settings(new.other_pools))]
    return tuple(change for place, before, after in sections for change in _differences(place, before, after))


def _differences(place: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterable[PolicyChange]:
    return (PolicyChange(place, name, old[name], new[name]) for name in old if old[name] != new[name])


def verdicts(old: Plan, new: Plan) -> tuple[PolicyChange, ...]:
    """Return the nodes of one picture whose verdict or reason differs between two plans."""
    pairs = zip(old.decisions, new.decisions, strict=True)
    rows = (PolicyChange(before.pool, before.name, _verdict(before), _verdict(after)) for before, after in pairs)
    return tuple(sorted((row for row in rows if row.old != row.new), key=lambda row: (row.old, row.new, row.name)))


def _verdict(decision: NodeDecision) -> str:
    return ": ".join(part for part in (VERDICTS[decision.verdict], decision.reason) if part)


def show(console: Console, changed: Sequence[PolicyChange], moved: Sequence[PolicyChange], nodes: int | None) -> None:
    """Print both kinds of changes, and one line that sums up; or that nothing changes.

    Without a cluster `nodes` is None: then nothing is said of verdicts.
    """
    if not changed and not moved:
        console.print(SAME if nodes is None else NOTHING)
        return
    for place, changes in groupby(changed, key=lambda change: change.place):
        _print(console, place, ("setting", "old", "new"), [(each.name, each.old, each.new) for each in changes])
    if not changed:
        console.print("No setting changes.\n")
    for (old, new), nodes_moved in groupby(moved, key=lambda change: (change.old, change.new)):
        found = [(each.name, each.place or "-") for each in nodes_moved]
        _print(console, f"{old} → {new} ({len(found):,})", ("node", "pool"), found)
    console.print(f"{count(len(changed), 'setting')} would change." if nodes is None else _sum(moved, nodes))


def show_ladders(console: Console, ladders: Sequence[Ladder], now: datetime) -> None:
    """Print what the cluster comes to at rest before and after."""
    console.print()
    if ladders:
        _print(console, "What it means", HEADS, rows(ladders, now), figures=HEADS[1:])
    console.print(headline(ladders))


def _print(
    console: Console, title: str, columns: Sequence[str], lines: Iterable[tuple[str, ...]], figures: Sequence[str] = ()
) -> None:
    console.print(title, style="bold")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, overflow="fold", justify="right" if column in figures else "left")
    for line in lines:
        table.add_row(*line)
    console.print(table)
    console.print()


def _sum(moved: Sequence[PolicyChange], nodes: int) -> str:
    if not moved:
        return f"No verdict changes: all {count(nodes, 'node')} keep theirs at this moment."
    return f"{len(moved):,} of {count(nodes, 'verdict')} would change at this moment."
