"""Money over days: for each case of the population the bill with Ebb against the autoscaler alone.

Two simulated days each: alone, with Ebb by bare defaults, and with what `ebb policy init` writes. Each is played with
the same few throws of the autoscaler's dice. No case may cost more than half a percent above the autoscaler alone,
unless the bills wander more from throw to throw. `QUICK=1` plays a row of the mixes with small clusters.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import product
from math import ceil, hypot, sqrt
from multiprocessing import get_context
from operator import attrgetter
from statistics import fmean, stdev
from typing import Final

from functions.cli.analysis.forecast.bound import bound
from functions.cli.analysis.simulated_days.measures import HOUR, PlayedTotals, stretches
from functions.cli.analysis.simulated_days.run import Days, simulate
from functions.cli.analysis.simulated_days.world import Onlooker, World
from functions.cli.input.inputs import EVERY_POOL
from functions.cli.policy.init import first_policy
from shared.adapters.prices import load
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.planning.bill import Bill
from shared.core.policy import Policy
from shared.core.policy.parsing import parse
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.bench.days.population import DAYS, MIXES, PROFILES, Budgets, Case, case
from tests.measured_figures import say

CASES: Final = 72
THROWS: Final = 3
"""Of the autoscaler's dice: which machine they leave over decides some percent of one bill."""
SMALL: Final = 24
"""Nodes of each cluster of a quick run."""
ABOVE: Final = 0.5
"""Percent that no case may cost more than the autoscaler alone."""
LEAST_WITH_BUDGETS, LEAST_WITHOUT = -16.0, -5.0
ALONE, DEFAULTS, INIT = "alone", "defaults", "init"


class Removals(Onlooker):
    """By whom each node went, and when the bill of the first night was lowest."""

    def __init__(self) -> None:
        self.by: Counter[str] = Counter()

    def node(self, world: World, before: Node | None, after: Node | None) -> None:
        del world
        if before is not None and after is None:
            self.by["ebb" if before.drain_taint is not None else "autoscaler"] += 1


@dataclass(frozen=True)
class Run:
    """What became of one case under one policy, with each throw of the dice."""

    plays: Sequence[PlayedTotals]
    by: Mapping[str, int]

    def mean(self, of: Callable[[PlayedTotals], float]) -> float:
        return fmean(map(of, self.plays))

    @property
    def paid(self) -> float:
        return self.mean(lambda totals: totals.paid)

    @property
    def wanders(self) -> float:
        """By how many percent its mean bill may be off: two standard errors."""
        bills = [totals.paid for totals in self.plays]
        return 200 * stdev(bills) / sqrt(len(bills)) / self.paid if len(bills) > 1 else 0.0

    @property
    def evictions_a_node(self) -> float:
        return sum(totals.evictions for totals in self.plays) / max(sum(self.by.values()), 1)


_DAY: Final = timedelta(days=1)


def _bills(totals: PlayedTotals) -> Sequence[tuple[int, datetime]]:
    """Return the bills by the hour, with the times from which they count."""
    return [(row.cost if row.bill is None else row.bill, row.at) for row in totals.series]


def _first_night(totals: PlayedTotals) -> Sequence[tuple[int, datetime]]:
    rows = _bills(totals)
    return [row for row in rows if row[1] - rows[0][1] < _DAY]


def _second_day(totals: PlayedTotals) -> float:
    """Return what the second day costs, in micro-dollars; the first begins with nodes that nobody has packed."""
    begun = totals.series[0].at
    rows = stretches(totals.series, begun + _DAY, begun + DAYS)
    return sum(bill * (lasts / HOUR) for (bill, _), (_, lasts) in zip(_bills(totals), rows, strict=True))


def _minutes_later(own: PlayedTotals, alone: PlayedTotals) -> float | None:
    """Return how much later a bill is as low as the lowest of the autoscaler alone; None if it never is."""
    lowest, at = min(_first_night(alone))
    found = next((when for bill, when in _first_night(own) if bill <= lowest), None)
    return None if found is None else (found - at) / timedelta(minutes=1)


@dataclass(frozen=True)
class Row:
    """One case with its runs, and a bound of its bill."""

    number: int
    name: str
    budgets: Budgets
    runs: Mapping[str, Run]
    least: float
    profile: str

    def percent(self, kind: str, of: Callable[[PlayedTotals], float] = attrgetter("paid")) -> float:
        return 100 * (self.runs[kind].mean(of) / self.runs[ALONE].mean(of) - 1)

    def is_dearer(self, kind: str) -> bool:
        """Whether it costs more than with the autoscaler alone, by more than the two bills wander anyway."""
        return self.percent(kind) > max(ABOVE, hypot(self.runs[ALONE].wanders, self.runs[kind].wanders))

    def reached(self, kind: str) -> float:
        """Which part of what the bound would save is saved."""
        alone = self.runs[ALONE].paid
        return (alone - self.runs[kind].paid) / max(alone - self.least, 1.0)


def played(number: int, nodes: int = 0, kinds: Sequence[str] = (DEFAULTS, INIT)) -> Row:
    """Play one case with the autoscaler alone, and with Ebb by each kind of policy."""
    own = case(number, nodes=nodes)
    runs = {kind: run_of(own, kind, range(THROWS)) for kind in (ALONE, *kinds)}
    return Row(number, own.name, own.budgets, runs, _least(own), own.snapshot.profile)


def run_of(own: Case, kind: str, throws: Sequence[int]) -> Run:
    days = Days(own.snapshot, load(), own.demand, DAYS, commitments=own.commitments)
    policy, seen = _policy(own, kind), Removals()
    return Run([simulate(replace(days, throw=throw), policy, seen) for throw in throws], seen.by)


def _policy(own: Case, kind: str) -> Policy | None:
    if kind == ALONE:
        return None
    text = first_policy(Situation(own.snapshot, ClusterState(), EVERY_POOL), load()).encode() if kind == INIT else b""
    return replace(parse(text) if text else EVERY_POOL, commitments=own.commitments)


def _least(own: Case) -> float:
    """Return a bound of the bill: each hour's pods on the cheapest nodes that are there by day, packed for nothing."""
    bill = Bill.of(load(), own.commitments, own.snapshot.nodes, own.snapshot.taken_at)
    hours, changes, wanted = DAYS // timedelta(hours=1), list(own.demand), dict[str, int]()
    total = 0.0
    for hour in range(hours):
        until = own.snapshot.taken_at + timedelta(hours=hour)
        while changes and changes[0].at <= until:
            change = changes.pop(0)
            wanted[change.controller] = change.replicas
        found = bound(replace(own.snapshot, pods=tuple(_living(own, wanted))), bill, ClusterState())
        total += found.cost if found.bill is None else found.bill
    return total


def _living(own: Case, wanted: Mapping[str, int]) -> Iterator[Pod]:
    there: Counter[str] = Counter()
    for pod in own.snapshot.pods:
        key = pod.spec.workload
        there[key] += 1
        if there[key] <= wanted.get(key, ceil(1e9)):
            yield pod


_GROUPS: Final = (("with budgets", True, LEAST_WITH_BUDGETS), ("without", False, LEAST_WITHOUT))
_ALL: Final = "both profiles"


def run(*, quick: bool) -> None:
    numbers, nodes = (range(len(MIXES)), SMALL) if quick else (range(CASES), 0)
    rows = []
    with ProcessPoolExecutor(os.cpu_count() or 1, get_context("spawn")) as pool:
        for row in pool.map(played, numbers, [nodes] * len(numbers)):
            rows.append(row)
            _say_case(row)
    for kind, (word, budgets, goal), profile in product((DEFAULTS, INIT), _GROUPS, (_ALL, *PROFILES)):
        group = [row for row in rows if (row.budgets is not Budgets.NONE) is budgets]
        own = [row for row in group if profile in {_ALL, row.profile}]
        if own:
            _say_all(f"{kind}, {word}, {profile.lower()}", kind, own, goal)
    above = [row.name for row in rows for kind in (DEFAULTS, INIT) if row.is_dearer(kind)]
    if above and not quick:
        raise SystemExit(f"above the autoscaler's bill: {'; '.join(above)}")


def _say_case(row: Row) -> None:
    alone = row.runs[ALONE]
    say(row.name, f"${alone.paid / 1e6:,.0f}, wanders by {alone.wanders:.1f} %; {_facts(alone)}", "alone")
    for kind in (DEFAULTS, INIT):
        own = row.runs[kind]
        later = [_minutes_later(*pair) for pair in zip(own.plays, alone.plays, strict=True)]
        as_low = ", ".join("never" if minutes is None else f"{minutes:+.0f} min" for minutes in later)
        facts = f"{_facts(own)}, as low as alone: {as_low}"
        say(f"    {kind}: {facts}", f"{row.percent(kind):+.1f} % ({row.reached(kind):.0%} of bound)", f"{ABOVE:+} %")


def _facts(own: Run) -> str:
    who = ", ".join(f"{count} by {actor}" for actor, count in sorted(own.by.items()))
    nodes, evictions = own.mean(lambda totals: totals.mean_nodes), own.mean(lambda totals: totals.evictions)
    twice, waited = own.mean(lambda totals: totals.twice), max(totals.longest_wait_by_ebb for totals in own.plays)
    pods = f"{evictions:.0f} evictions, {twice:.0f} twice, waited {waited:.0f} s by Ebb"
    return f"{nodes:.1f} nodes, {pods}, removed {who or 'none'}"


def _say_all(what: str, kind: str, rows: Sequence[Row], goal: float) -> None:
    found = [row.percent(kind) for row in rows]
    above, dearer = sum(factor > ABOVE for factor in found), sum(row.is_dearer(kind) for row in rows)
    a_node = fmean(row.runs[kind].evictions_a_node for row in rows) / fmean(
        row.runs[ALONE].evictions_a_node for row in rows
    )
    many = f"{above} of {len(rows)} above {ABOVE} %, {dearer} clearly"
    second = fmean(row.percent(kind, _second_day) for row in rows)
    words = f"mean {fmean(found):+.1f} %, second day {second:+.1f} %, worst {max(found):+.1f} %, {many}"
    say(f"{what}: {words}", f"evictions a node {a_node:.2f}x", f"{goal} %")
