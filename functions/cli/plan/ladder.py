"""The scenarios in words, money and JSON: what Ebb adds, now, autoscaler alone, with Ebb, relaxations, the bound."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, Final

from functions.cli.analysis.changes import Subject
from functions.cli.analysis.forecast.at_rest import ONE_REMOVAL
from functions.cli.analysis.forecast.ladder import Ladder, LadderStep, ScenarioKind
from functions.cli.output.format import (
    by_the_minute,
    clock,
    count,
    dollars_a_month,
    rfc3339,
    rounded_percent,
    some,
    span,
    whole_money,
    yearly,
)
from functions.cli.output.tables import BOLD, DIM
from shared.core.cluster.autoscaling import ScaleDownRule
from shared.core.reasons import Reason, Unremovable

_SUMMED: Final[Mapping[ScenarioKind, Callable[[Ladder], LadderStep]]] = {
    ScenarioKind.NOW: lambda ladder: ladder.now,
    ScenarioKind.AUTOSCALER_ALONE: lambda ladder: ladder.alone,
    ScenarioKind.POLICY_AT_REST: lambda ladder: ladder.at_rest,
    ScenarioKind.BOUND: lambda ladder: ladder.bound,
}
"""The scenarios that each cluster has, so that those of several clusters add up."""


class LadderMoney:
    """The money of scenarios, in whole units a month, so that all that is printed adds up.

    `parts` are the clusters that the scenarios are the sums of; a sum is the sum of what is printed of each.
    """

    def __init__(self, ladder: Ladder, parts: Sequence[Ladder] = ()) -> None:
        self._ladder, self._parts = ladder, parts
        self.known = ladder.now.cost > 0
        """False for machines without prices."""

    def saved(self, step: LadderStep) -> int:
        """Return how much less the scenario costs than the cluster does now."""
        if not self._parts:
            return _month(self._ladder.now.cost - step.cost)
        return sum(_month(each.now.cost - _SUMMED[step.kind](each).cost) for each in self._parts)

    def left(self, step: LadderStep) -> int:
        """Return what the scenario costs."""
        return sum(_month(each.now.cost) for each in self._parts or (self._ladder,)) - self.saved(step)

    @property
    def added(self) -> int:
        """What Ebb saves on top of the autoscaler; below 0 where its policy leaves more."""
        return self.saved(self._ladder.at_rest) - self.saved(self._ladder.alone)

    def month(self, step: LadderStep) -> str:
        return whole_money(self.left(step)) if self.known else _NONE

    def year(self, step: LadderStep) -> str:
        return yearly(self.left(step)) if self.known else _NONE

    def share(self, saved: int) -> str:
        """Return a saving as a share of what is paid now."""
        now = self.left(self._ladder.now)
        return rounded_percent(Fraction(saved, now)) if now else _NONE


def month_beside(now: int, cost: int) -> int:
    """Return whole units of the currency for a month of a scenario, which with its saving add up to now's."""
    return _month(now) - _month(now - cost)


def _month(amount: int) -> int:
    return round(dollars_a_month(amount))


POLICY: Final = "this policy"
DEFAULTS: Final = "default settings"
ADDED: Final = "Ebb adds"
BOUND: Final = "no plan can go below"
_NONE: Final = "-"
_TITLES: Final = {
    ScenarioKind.NOW: "now",
    ScenarioKind.AUTOSCALER_ALONE: "autoscaler alone",
    ScenarioKind.POLICY_AT_REST: "with Ebb, {whose}",
    ScenarioKind.BOUND: BOUND,
}
_RELAXED: Final = {
    "jobs": "running Jobs may move",
    "limits": "no ratio limits",
    "required_count": "no required number of nodes",
    "excess": "no excess nodes required",
    "pools": "pool enabled",
    "local_storage": "local storage may move",
    "pdb": "PDB allows 1",
    "headroom": "no headroom",
}
"""What a change is called by its word; others are called by what they take away."""
APPROXIMATE: Final = "Large cluster: the forecast ends after a few rounds, and its figures are approximate."
AT_MOST: Final = "≤"
AT_LEAST: Final = "≥"
CUT_SHORT: Final = f"{AT_MOST}: estimate. The search was cut short, the true figure may be lower; see ebb why-not."
CHECK: Final = "Check minimum sizes, pools with autoscaling off, stuck rollouts."
QUESTION: Final = f"Your autoscaler could have removed {{these}} within {{minutes}}: {CHECK[:1].lower()}{CHECK[1:]}"
NODE_POOLS: Final = "--node-pools FILE takes the first two into account."
_MOST_HELD: Final = 2
_NIGHT: Final = timedelta(hours=8)
_PACE: Final[Mapping[Reason, str]] = {
    Unremovable.TIME_GAP: "timeGap",
    Unremovable.NODES_PER_PASS: "maxNodesPerPass",
    Unremovable.RATE: "rate",
}
"""What only spreads drains over time, by its field of the policy; budgets and windows protect something."""


@dataclass(frozen=True, slots=True)
class LadderRow:
    """One scenario as it is printed: its title, its figures, and how it looks."""

    title: str
    nodes: str
    month: str
    year: str
    share: str
    """Of what is paid now, saved."""
    evictions: str
    """For each node that goes."""
    style: str = ""


def rows(ladder: Ladder, whose: str) -> tuple[LadderRow, ...]:
    """Return what Ebb adds, and a row for each scenario; `whose` are the settings of Ebb."""
    money = LadderMoney(ladder)
    return (_added(ladder, money), *(_row(step, whose, money) for step in ladder.steps))


def _added(ladder: Ladder, money: LadderMoney) -> LadderRow:
    """Return the difference between Ebb and the autoscaler alone."""
    nodes, added = ladder.alone.nodes - ladder.at_rest.nodes, money.added
    paid = (_less(added), _less(added, yearly)) if money.known else (_NONE, _NONE)
    return LadderRow(ADDED, _less(nodes, "{:,}".format), *paid, money.share(added), _NONE, BOLD)


def _less(amount: int, written: Callable[[int], str] = whole_money) -> str:
    return f"{'-' if amount > 0 else '+' if amount else ''}{written(abs(amount))}"


def _row(step: LadderStep, whose: str, money: LadderMoney) -> LadderRow:
    title = f"  + {relaxation(step.change)}" if step.change else _TITLES[step.kind].format(whose=whose)
    most, least = ("", "") if is_followed(step) else (AT_MOST, AT_LEAST)
    cells = f"{most}{step.nodes:,}", f"{most}{money.month(step)}", f"{most}{money.year(step)}"
    saved = _NONE if step.kind in {ScenarioKind.NOW, ScenarioKind.BOUND} else f"{least}{money.share(money.saved(step))}"
    each = f"{step.evictions / step.gone:.1f}" if step.gone else _NONE
    return LadderRow(title, *cells, saved, each, DIM if step.kind in {ScenarioKind.RELAXED, ScenarioKind.BOUND} else "")


def headline(ladder: Ladder, whose: str, now: datetime, parts: Sequence[Ladder] = ()) -> str:
    """Return what a reader keeps: what Ebb adds and by when, then what each scenario costs.

    `parts` are the scenarios of the clusters that they are the sum of.
    """
    money, adds = LadderMoney(ladder, parts), worth(ladder, LadderMoney(ladder, parts))
    year = f" ({yearly(money.added)} a year)" if adds and money.known else ""
    by = f", by {clock(by_the_minute(ladder.by), now)} UTC" if adds and ladder.by else ""
    rows = (("Now", ladder.now), ("autoscaler alone", ladder.alone), ("with Ebb", ladder.at_rest))
    costs = "; ".join(f"{name} {_cost(step, money)}" for name, step in rows)
    return f"{ADDED} {adds or 'nothing'}{year} with {whose}{by}. {costs}."


def worth(ladder: Ladder, money: LadderMoney) -> str:
    """Return what Ebb adds in money, or in nodes if these have no price; empty if it adds nothing."""
    if money.known:
        return f"{whole_money(money.added)} a month" if money.added > 0 else ""
    nodes = ladder.alone.nodes - ladder.at_rest.nodes
    return f"the removal of {count(nodes, 'node')}" if nodes > 0 else ""


def _cost(step: LadderStep, money: LadderMoney) -> str:
    month = " a month" if step.kind is ScenarioKind.NOW else ""
    return f"{count(step.nodes, 'node')} for {money.month(step)}{month}" if money.known else count(step.nodes, "node")


def question(ladder: Ladder, rules: Mapping[str, ScaleDownRule], *, pools_known: bool = True) -> str:
    """Return what to check if the autoscaler could remove nodes and has not; `rules` are those of each pool.

    `pools_known`: minimum sizes and autoscaling are in the figures already.
    """
    gone = ladder.now.nodes - ladder.alone.nodes
    if gone <= 0:
        return ""
    delay = max((rule.unneeded for rule in rules.values()), default=timedelta())
    minutes = -(-(delay + gone * ONE_REMOVAL) // timedelta(minutes=1))
    these = "this node" if gone == 1 else f"these {gone:,} nodes"
    question = QUESTION.format(these=these, minutes=count(minutes, "minute"))
    return question if pools_known else f"{question} {NODE_POOLS}"


def steady(ladder: Ladder, now: datetime) -> str:
    """Return by when the steady state is reached, and what delays it most; empty if no node goes."""
    if not ladder.by:
        return ""
    by, begun = by_the_minute(ladder.by), now.replace(second=0, microsecond=0)
    return f"by {clock(by, now)} UTC, in {span(by - begun)}{_held(ladder.held_up)}"


def sentences(ladder: Ladder) -> Iterator[str]:
    """Yield what the rows leave open: a slow pace, gates that never open, relaxations without effect or skipped."""
    yield from slow_pace(ladder.held_up)
    for reason, nodes in sorted(ladder.never.items(), key=lambda each: -each[1]):
        yield f"{count(nodes, 'removable node')} never may go: {reason.value}. {reason.sentence}"
    if ladder.idle:
        yield f"Relaxing one of these alone removes no node: {some([relaxation(each) for each in ladder.idle])}."
    if not all(map(is_followed, ladder.steps)):
        yield CUT_SHORT
    if ladder.approximate:
        yield APPROXIMATE


def slow_pace(held_up: Mapping[Reason, int]) -> Iterator[str]:
    """Yield a sentence if limits of the pace delay the steady state by more than a night."""
    own = {reason: seconds for reason, seconds in held_up.items() if reason in _PACE}
    if timedelta(seconds=sum(own.values())) > _NIGHT:
        most = max(own, key=lambda reason: own[reason])
        delay = span(timedelta(seconds=own[most]))
        yield f"Delayed by {_PACE[most]} for {delay}: ebb policy init writes a pace for one night."


def relaxation(change: Subject) -> str:
    """Return what is relaxed, in words, and of which object."""
    words = _RELAXED.get(change.word)
    return ": ".join(filter(None, (words, change.object))) if words else f"without {change.name}"


def is_followed(step: LadderStep) -> bool:
    """Whether a relaxation was followed until no more nodes go."""
    return step.is_rest or step.change is None


def _held(held_up: Mapping[Reason, int]) -> str:
    most = sorted(held_up.items(), key=lambda each: -each[1])[:_MOST_HELD]
    rows = (f"{reason.value} ({span(timedelta(seconds=seconds))})" for reason, seconds in most)
    return f"; delayed most by {', '.join(rows)}" if most else ""


def title(ladder: Ladder, money: LadderMoney, where: str = "here") -> str:
    """Return the one sentence about a cluster, or about those that `where` names."""
    adds = worth(ladder, money)
    if adds:
        now = f"of {count(ladder.now.nodes, 'node')} {ladder.at_rest.nodes:,} stay, not {ladder.alone.nodes:,}"
        return f"Ebb would add {adds} to the autoscaler's savings {where}: {now}"
    saved = money.saved(ladder.alone)
    if saved > 0:
        return f"Ebb would add nothing {where}: the autoscaler alone would save {whole_money(saved)} a month"
    stay = "1 node stays" if ladder.at_rest.nodes == 1 else f"all {count(ladder.at_rest.nodes, 'node')} stay"
    return f"Ebb would save nothing {where}: {stay}"


def scenarios(ladder: Ladder) -> list[dict[str, Any]]:
    """Return a JSON value for each scenario, in order; every key is always there."""
    return [_rung(step, ladder) for step in ladder.steps]


def _rung(step: LadderStep, ladder: Ladder) -> dict[str, Any]:
    is_rest = step.kind is ScenarioKind.POLICY_AT_REST
    return {
        "rung": step.kind.value,
        "wish": step.change.word if step.change else None,
        "about": (step.change.object or None) if step.change else None,
        "nodes": step.nodes,
        "cost_per_month": float(round(dollars_a_month(step.cost), 2)),
        "evictions": step.evictions,
        "removed": step.gone,
        "is_rest": step.is_rest,
        "by": rfc3339(ladder.by) if is_rest and ladder.by else None,
        "held_up": _counted("seconds", ladder.held_up) if is_rest else [],
        "never": _counted("nodes", ladder.never) if is_rest else [],
    }


def _counted(unit: str, counts: Mapping[Reason, int]) -> list[dict[str, Any]]:
    """Return the reasons, those that count most first."""
    most = sorted(counts.items(), key=lambda each: (-each[1], each[0].value))
    return [{"reason": reason.value, unit: number} for reason, number in most]
