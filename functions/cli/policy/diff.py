"""What differs between two policies: real drains, settings, verdicts, scenarios; on a terminal and as JSON."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import groupby, zip_longest
from typing import Any, Final

from rich.console import Console

from functions.cli.analysis.forecast.scenarios import Scenarios
from functions.cli.output.format import by_the_minute, clock, count, rfc3339, span, whole_money, yearly
from functions.cli.output.tables import Column, Table, draw
from functions.cli.plan.scenarios import BOUND, ScenarioMoney, paid, scenario_documents
from functions.cli.plan.sentences import HOLDING, VERDICTS, LegendEntry, WordKind, legend, show_notes
from functions.cli.policy.real_drains import DrainsCompared, RealDrains
from functions.cli.policy.words import CLUSTER, cluster_settings, pool_settings
from shared.core.planning.plan import NodeDecision, Plan
from shared.core.policy import Policy

UNKNOWN: Final = "Not all pods of this cluster are known, so its steady state is unknown."
UNCHANGED_CELL: Final = "="
HEADS: Final = ("", "before", "after", "difference")
_NEVER: Final = "-"


def headline(scenarios: Sequence[Scenarios]) -> str:
    """Return what the change means in the end."""
    if not scenarios:
        return UNKNOWN
    old, new = (each.at_rest for each in scenarios)
    before, after = map(ScenarioMoney, scenarios)
    less = before.left(old) - after.left(new)
    ends = f"{count(new.nodes, 'node')} for {after.month(new)} a month"
    if paid(old) == paid(new):
        return f"The steady state stays the same: {ends}."
    return (
        f"The steady state becomes {ends}, from {old.nodes:,} for {before.month(old)}: "
        f"{whole_money(abs(less))} a month {'less' if less > 0 else 'more'} ({yearly(abs(less))} a year)."
    )


def rows(scenarios: Sequence[Scenarios], now: datetime) -> Iterator[tuple[str, ...]]:
    """Yield what each figure is, what it was, what it will be, and by how much it differs."""
    if not scenarios:
        return
    old, new = scenarios
    before, after = map(ScenarioMoney, scenarios)
    more = after.left(new.at_rest) - before.left(old.at_rest)
    yield "now, a month", before.month(old.now), after.month(new.now), UNCHANGED_CELL
    yield counted("nodes in steady state", old.at_rest.nodes, new.at_rest.nodes)
    yield "a month in steady state", before.month(old.at_rest), after.month(new.at_rest), difference(more)
    if before.listed and after.listed:
        more_listed = after.listed.left(new.at_rest) - before.listed.left(old.at_rest)
        months = before.listed.month(old.at_rest), after.listed.month(new.at_rest)
        yield "the same at list prices", *months, difference(more_listed)
    saved = whole_money(before.saved(old.at_rest)), whole_money(after.saved(new.at_rest))
    yield "saved, a month", *saved, difference(-more)
    yield _by(old.by, new.by, now)
    yield counted("evictions until then", old.at_rest.evictions, new.at_rest.evictions)
    yield f"{BOUND}, a month", before.month(old.bound), after.month(new.bound), UNCHANGED_CELL


def counted(what: str, old: int, new: int) -> tuple[str, ...]:
    return what, f"{old:,}", f"{new:,}", f"{new - old:+,}" if old != new else UNCHANGED_CELL


def difference(whole: int) -> str:
    """Return whole units of the currency with their sign."""
    return f"{'+' if whole > 0 else '-'}{whole_money(abs(whole))}" if whole else UNCHANGED_CELL


def _by(old: datetime | None, new: datetime | None, now: datetime) -> tuple[str, ...]:
    before, after = (by_the_minute(each) if each else None for each in (old, new))
    times = (clock(each, now) if each else _NEVER for each in (before, after))
    return "steady state by (UTC)", *times, _later(before, after)


def _later(before: datetime | None, after: datetime | None) -> str:
    if before == after:
        return UNCHANGED_CELL
    if before is None or after is None:
        return _NEVER
    return f"{span(after - before)} later" if after > before else f"{span(before - after)} earlier"


@dataclass(frozen=True, slots=True)
class ReasonChange:
    """A reason that keeps other nodes than before; None where it keeps none."""

    old: LegendEntry | None
    new: LegendEntry | None

    @property
    def entry(self) -> LegendEntry:
        """Return it with its word and sentence."""
        return self.new or self.old  # type: ignore[return-value]  # of the two one is there

    @property
    def cost(self) -> int:
        """Return how much more money it holds, in micro-dollars per hour."""
        return (self.new.cost if self.new else 0) - (self.old.cost if self.old else 0)


@dataclass(frozen=True)
class Impact:
    """Plan and scenarios before and after; without scenarios not all of the cluster is known."""

    before: Plan
    after: Plan
    scenarios: tuple[Scenarios, ...]
    notes: tuple[str, ...]

    def reasons(self) -> tuple[ReasonChange, ...]:
        """Return the reasons that keep more or fewer nodes, those that change most money first."""
        found = sorted(self._reasons(), key=lambda each: (-abs(each.cost), each.entry.word))
        return tuple(sorted(found, key=lambda each: HOLDING.index(each.entry.kind)))

    def _reasons(self) -> Iterator[ReasonChange]:
        old, new = _entries(self.before), _entries(self.after)
        for key in dict.fromkeys((*old, *new)):
            pair = ReasonChange(old.get(key), new.get(key))
            if (
                pair.old is None
                or pair.new is None
                or (pair.old.nodes, pair.old.cost) != (pair.new.nodes, pair.new.cost)
            ):
                yield pair


def _entries(plan: Plan) -> dict[tuple[WordKind, str], LegendEntry]:
    return {(each.kind, each.word): each for each in legend(plan) if each.kind in HOLDING}


SETTINGS_ONLY: Final = (
    "No cluster was named, so only settings are compared; --dump, --kubeconfig or --context compares verdicts too."
)
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
    """Return the nodes of one snapshot whose verdict or reason differs between two plans."""
    pairs = zip(old.decisions, new.decisions, strict=True)
    rows = (PolicyChange(before.pool, before.name, _verdict(before), _verdict(after)) for before, after in pairs)
    return tuple(sorted((row for row in rows if row.old != row.new), key=lambda row: (row.old, row.new, row.name)))


def _verdict(decision: NodeDecision) -> str:
    return ": ".join(part for part in (VERDICTS[decision.verdict], decision.reason) if part)


@dataclass(frozen=True)
class PolicyDiff:
    """All that differs between two policies; without a cluster `impact` is None, and settings alone are compared."""

    settings: tuple[PolicyChange, ...]
    drains: DrainsCompared
    impact: Impact | None = None

    @cached_property
    def verdicts(self) -> tuple[PolicyChange, ...]:
        return verdicts(self.impact.before, self.impact.after) if self.impact else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What it rests on."""
        return self.impact.notes if self.impact else (SETTINGS_ONLY,)

    @property
    def same(self) -> str:
        """The sentence that nothing changes; empty where something does."""
        if self.settings or self.verdicts:
            return ""
        return NOTHING if self.impact else SAME


def show(console: Console, found: PolicyDiff) -> None:
    """Print first what becomes of real drains, then what changes; or that nothing does."""
    impact = found.impact
    if not found.same:
        console.print(found.drains.sentence, style="bold")
        console.print()
    show_notes(console, found.notes)
    if found.same:
        console.print(found.same)
        return
    _show_changes(console, found)
    if impact:
        console.print(_sum(found.verdicts, len(impact.before.decisions)))
        _show_scenarios(console, impact.scenarios, impact.before.taken_at)
    else:
        console.print(f"{count(len(found.settings), 'setting')} would change.")


def _show_changes(console: Console, found: PolicyDiff) -> None:
    for place, changes in groupby(found.settings, key=lambda change: change.place):
        _print(console, place, ("setting", "old", "new"), [(each.name, each.old, each.new) for each in changes])
    if not found.settings:
        console.print("No setting changes.\n")
    for (old, new), nodes_moved in groupby(found.verdicts, key=lambda change: (change.old, change.new)):
        rows = [(each.name, each.place or "-") for each in nodes_moved]
        _print(console, f"{old} → {new} ({len(rows):,})", ("node", "pool"), rows)


def _show_scenarios(console: Console, scenarios: Sequence[Scenarios], now: datetime) -> None:
    """Print the steady state before and after."""
    console.print()
    if scenarios:
        _print(console, "What it means", HEADS, rows(scenarios, now), figures=HEADS[1:])
    console.print(headline(scenarios))


def _print(
    console: Console, title: str, columns: Sequence[str], lines: Iterable[tuple[str, ...]], figures: Sequence[str] = ()
) -> None:
    console.print(title, style="bold")
    draw(console, Table.of([Column(each, wraps=True, right=each in figures) for each in columns], lines))
    console.print()


def _sum(moved: Sequence[PolicyChange], nodes: int) -> str:
    if not moved:
        return f"No verdict changes: all {count(nodes, 'node')} keep theirs at this moment."
    return f"{len(moved):,} of {count(nodes, 'verdict')} would change at this moment."


SCHEMA: Final = 1


def document(found: PolicyDiff) -> dict[str, Any]:
    """Return what differs as JSON values (docs/orders.md, policy diff JSON): an outside contract.

    The scenarios are empty if no cluster was named, or it is not whole.
    """
    impact = found.impact
    ladders = [scenario_documents(scenarios) for scenarios in impact.scenarios] if impact else []
    return {
        "schema": SCHEMA,
        "cluster": (impact.before.cluster or None) if impact else None,
        "taken_at": rfc3339(impact.before.taken_at) if impact else None,
        "drains": {
            "change": found.drains.change.value,
            "sentence": found.drains.sentence,
            "before": _drains(found.drains.before),
            "after": _drains(found.drains.after),
        },
        "settings": _changes(found.settings, "setting"),
        "verdicts": _changes(found.verdicts, "node"),
        "ladder": dict(zip_longest(("before", "after"), ladders, fillvalue=[])),
    }


def _drains(drains: RealDrains) -> dict[str, Any]:
    """Return the real drains of one policy; all figures are null where they are unknown."""
    is_known = drains.begins is not None
    return {
        "off": drains.off or None,
        "nodes": drains.nodes if is_known else None,
        "from": rfc3339(drains.first) if drains.first else None,
        "most_in_an_hour": drains.most_in_an_hour if is_known else None,
        "is_rest": drains.is_rest if is_known else None,
    }


def _changes(changes: Iterable[PolicyChange], name: str) -> list[dict[str, str]]:
    place = "pool" if name == "node" else "where"
    return [{place: each.place, name: each.name, "before": each.old, "after": each.new} for each in changes]
