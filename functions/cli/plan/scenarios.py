"""The scenarios in words, money and JSON: what Ebb adds, now, autoscaler alone, with Ebb, relaxations, the bound."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, Final

from functions.cli.analysis.forecast.scenarios import Scenario, ScenarioKind, Scenarios
from functions.cli.analysis.forecast.steady_state import ONE_REMOVAL
from functions.cli.output.format import (
    by_the_minute,
    clock,
    count,
    dollars_a_month,
    duration,
    json_dollars,
    rfc3339,
    rounded_percent,
    some,
    whole_money,
    whole_month,
    yearly,
)
from functions.cli.output.tables import BOLD, DIM
from shared.core.cluster.autoscaling import ScaleDownRule
from shared.core.reasons import Reason


def paid_cost(scenario: Scenario) -> int:
    """Return what is paid for a scenario: its bill where capacity is committed, else its list price."""
    return scenario.cost if scenario.bill is None else scenario.bill


class ScenarioMoney:
    """Money in whole units a month, that all that is printed adds up; `parts` are the clusters of a sum."""

    def __init__(
        self, scenarios: Scenarios, parts: Sequence[Scenarios] = (), amount: Callable[[Scenario], int] = paid_cost
    ) -> None:
        self._scenarios, self._parts, self._amount = scenarios, parts, amount
        self.known = scenarios.now.cost > 0
        """False for machines without prices."""

    @property
    def listed(self) -> "ScenarioMoney | None":
        """The same at list prices; None where nothing is committed, so that both are one."""
        if self._scenarios.now.bill is None or not self.known:
            return None
        return ScenarioMoney(self._scenarios, self._parts, lambda scenario: scenario.cost)

    def saving_of(self, scenario: Scenario) -> int:
        if not self._parts:
            return whole_month(self._amount(self._scenarios.now) - self._amount(scenario))
        amount, kind = self._amount, scenario.kind
        return sum(whole_month(amount(part.now) - amount(part.common[kind])) for part in self._parts)

    def left(self, scenario: Scenario) -> int:
        now = sum(whole_month(self._amount(part.now)) for part in self._parts or (self._scenarios,))
        return now - self.saving_of(scenario)

    @property
    def added(self) -> int:
        """What Ebb saves on top of the autoscaler; below 0 where its policy leaves more."""
        return self.saving_of(self._scenarios.at_rest) - self.saving_of(self._scenarios.alone)

    def month(self, scenario: Scenario) -> str:
        return whole_money(self.left(scenario)) if self.known else _NONE

    def year(self, scenario: Scenario) -> str:
        return yearly(self.left(scenario)) if self.known else _NONE

    def share(self, saved: int) -> str:
        now = self.left(self._scenarios.now)
        return rounded_percent(Fraction(saved, now)) if now else _NONE


def month_with_saving(now: int, cost: int) -> int:
    """Return whole units of the currency for a month of a scenario, which with its saving add up to now's."""
    return whole_month(now) - whole_month(now - cost)


POLICY: Final = "this policy"
DEFAULTS: Final = "default settings"
ADDED: Final = "Ebb adds"
BOUND: Final = "lower bound"
_NONE: Final = "-"
_TITLES: Final = {
    ScenarioKind.NOW: "now",
    ScenarioKind.AUTOSCALER_ALONE: "autoscaler alone",
    ScenarioKind.POLICY_AT_REST: "with Ebb, {whose}",
    ScenarioKind.BOUND: BOUND,
}
APPROXIMATE: Final = "Large cluster: the forecast ends after a few rounds, and its figures are approximate."
AT_MOST: Final = "≤"
AT_LEAST: Final = "≥"
CUT_SHORT: Final = f"{AT_MOST}: estimate. The search was cut short, the true figure may be lower; see ebb why-not."
CHECK: Final = "Check minimum sizes, pools with autoscaling off, stuck rollouts."
QUESTION: Final = f"Your autoscaler could have removed {{these}} within {{minutes}}: {CHECK[:1].lower()}{CHECK[1:]}"
NODE_POOLS: Final = "--node-pools FILE takes the first two into account."
_MOST_HELD: Final = 2


@dataclass(frozen=True, slots=True)
class ScenarioRow:
    title: str
    nodes: str
    month: str
    year: str
    share: str
    evictions: str
    style: str = ""
    listed: str = ""
    """A month at list prices where `month` is the bill; else empty."""


def rows(scenarios: Scenarios, whose: str) -> tuple[ScenarioRow, ...]:
    money = ScenarioMoney(scenarios)
    return (_added_row(scenarios, money), *(_row(scenario, whose, money) for scenario in scenarios.in_order))


def _added_row(scenarios: Scenarios, money: ScenarioMoney) -> ScenarioRow:
    nodes, added = scenarios.alone.nodes - scenarios.at_rest.nodes, money.added
    amounts = (_less(added), _less(added, yearly)) if money.known else (_NONE, _NONE)
    listed = _less(money.listed.added) if money.listed else ""
    return ScenarioRow(ADDED, _less(nodes, "{:,}".format), *amounts, money.share(added), _NONE, BOLD, listed)


def _less(amount: int, written: Callable[[int], str] = whole_money) -> str:
    return f"{'-' if amount > 0 else '+' if amount else ''}{written(abs(amount))}"


def _row(scenario: Scenario, whose: str, money: ScenarioMoney) -> ScenarioRow:
    title = f"  + {scenario.change.name}" if scenario.change else _TITLES[scenario.kind].format(whose=whose)
    most, least = ("", "") if is_followed(scenario) else (AT_MOST, AT_LEAST)
    cells = f"{most}{scenario.nodes:,}", f"{most}{money.month(scenario)}", f"{most}{money.year(scenario)}"
    has_share = scenario.kind not in {ScenarioKind.NOW, ScenarioKind.BOUND}
    saved = f"{least}{money.share(money.saving_of(scenario))}" if has_share else _NONE
    per_node = f"{scenario.evictions / scenario.gone:.1f}" if scenario.gone else _NONE
    style = DIM if scenario.kind in {ScenarioKind.RELAXED, ScenarioKind.BOUND} else ""
    listed = f"{most}{money.listed.month(scenario)}" if money.listed else ""
    return ScenarioRow(title, *cells, saved, per_node, style, listed)


def headline(scenarios: Scenarios, whose: str, now: datetime, parts: Sequence[Scenarios] = ()) -> str:
    """Return what Ebb adds and by when, then what each scenario costs; `parts` are the clusters of a sum."""
    money = ScenarioMoney(scenarios, parts)
    adds = worth(scenarios, money)
    year = f"{yearly(money.added)} a year" if adds and money.known else ""
    listed = at_list_prices(money)
    beside = f" ({'; '.join(filter(None, (year, listed)))})" if year or listed else ""
    by = f", by {clock(by_the_minute(scenarios.by), now)} UTC" if adds and scenarios.by else ""
    rows = (("Now", scenarios.now), ("autoscaler alone", scenarios.alone), ("with Ebb", scenarios.at_rest))
    costs = "; ".join(f"{name} {_cost(scenario, money)}" for name, scenario in rows)
    return f"{ADDED} {adds or 'nothing'}{beside} with {whose}{by}. {costs}."


def at_list_prices(money: ScenarioMoney) -> str:
    """Return what Ebb adds at list prices, where the bill is another figure; else nothing."""
    listed = money.listed
    differs = listed and listed.added > 0 and listed.added != money.added
    return f"{whole_money(listed.added)} a month at list prices" if listed and differs else ""


def added_note(money: ScenarioMoney) -> str:
    """Return what Ebb adds a year, and at list prices where the bill is another figure."""
    return "; ".join(filter(None, (f"{yearly(max(money.added, 0))} a year", at_list_prices(money))))


def worth(scenarios: Scenarios, money: ScenarioMoney) -> str:
    """Return what Ebb adds in money, or in nodes if these have no price; empty if it adds nothing."""
    if money.known:
        return f"{whole_money(money.added)} a month" if money.added > 0 else ""
    nodes = scenarios.alone.nodes - scenarios.at_rest.nodes
    return f"the removal of {count(nodes, 'node')}" if nodes > 0 else ""


def _cost(scenario: Scenario, money: ScenarioMoney) -> str:
    nodes, is_now = count(scenario.nodes, "node"), scenario.kind is ScenarioKind.NOW
    bill, month = "a bill of " if is_now and money.listed else "", " a month" if is_now else ""
    return f"{nodes} for {bill}{money.month(scenario)}{month}" if money.known else nodes


def question(scenarios: Scenarios, rules: Mapping[str, ScaleDownRule], *, pools_known: bool = True) -> str:
    """Return what to check if the autoscaler could remove nodes and has not; `pools_known`: minimums count already."""
    gone = scenarios.now.nodes - scenarios.alone.nodes
    if gone <= 0:
        return ""
    delay = max((rule.unneeded for rule in rules.values()), default=timedelta())
    minutes = -(-(delay + gone * ONE_REMOVAL) // timedelta(minutes=1))
    these = "this node" if gone == 1 else f"these {gone:,} nodes"
    question = QUESTION.format(these=these, minutes=count(minutes, "minute"))
    return question if pools_known else f"{question} {NODE_POOLS}"


def steady(scenarios: Scenarios, now: datetime) -> str:
    """Return by when the steady state is reached, and the limits that delay it most; empty if no node goes."""
    if not scenarios.by:
        return ""
    by, begun = by_the_minute(scenarios.by), now.replace(second=0, microsecond=0)
    most = sorted(scenarios.held_up.items(), key=lambda row: -row[1])[:_MOST_HELD]
    held = ", ".join(f"{reason.value} ({duration(timedelta(seconds=seconds))})" for reason, seconds in most)
    return f"by {clock(by, now)} UTC, in {duration(by - begun)}{f'; slowest limits: {held}' if held else ''}"


def sentences(scenarios: Scenarios) -> Iterator[str]:
    """Yield what the rows leave open: gates that never open, relaxations without effect or skipped."""
    for reason, nodes in sorted(scenarios.never.items(), key=lambda row: -row[1]):
        yield f"{count(nodes, 'removable node')} can never go: {reason.value}. {reason.sentence}"
    if scenarios.idle:
        idle = some([relaxation.name for relaxation in scenarios.idle])
        yield f"Relaxing one of these alone removes no node: {idle}."
    if not all(map(is_followed, scenarios.in_order)):
        yield CUT_SHORT
    if not scenarios.at_rest.is_rest:
        yield APPROXIMATE


def is_followed(scenario: Scenario) -> bool:
    return scenario.is_rest or scenario.change is None


def title(scenarios: Scenarios, money: ScenarioMoney, where: str = "") -> str:
    """Return the one sentence about a cluster, or about several: ` in 3 clusters`."""
    if worth(scenarios, money):
        fewer = count(scenarios.alone.nodes - scenarios.at_rest.nodes, "node")
        does = f"saves {whole_money(money.added)} a month" if money.known else f"removes {fewer}"
        nodes = f"{count(scenarios.at_rest.nodes, 'node')} instead of {scenarios.alone.nodes:,}"
        return f"Ebb {does} more than the autoscaler alone{where}: {nodes}"
    saved = money.saving_of(scenarios.alone)
    if saved > 0:
        return f"Ebb saves nothing more than the autoscaler alone{where}, which saves {whole_money(saved)} a month"
    stay = "1 node stays" if scenarios.at_rest.nodes == 1 else f"all {count(scenarios.at_rest.nodes, 'node')} stay"
    return f"Ebb saves nothing{where}: {stay}"


def scenario_documents(scenarios: Scenarios) -> list[dict[str, Any]]:
    """Return a JSON value for each scenario, in order; every key is always there."""
    return [_document(scenario, scenarios) for scenario in scenarios.in_order]


def _document(scenario: Scenario, scenarios: Scenarios) -> dict[str, Any]:
    is_rest, change = scenario.kind is ScenarioKind.POLICY_AT_REST, scenario.change
    return {
        "rung": scenario.kind.value,
        "wish": change and change.word,
        "about": (change and change.object) or None,
        "nodes": scenario.nodes,
        "cost_per_month": float(round(dollars_a_month(scenario.cost), 2)),
        "bill_per_hour": None if scenario.bill is None else json_dollars(scenario.bill),
        "evictions": scenario.evictions,
        "removed": scenario.gone,
        "is_rest": scenario.is_rest,
        "by": rfc3339(scenarios.by) if is_rest else None,
        "held_up": _count_document("seconds", scenarios.held_up) if is_rest else [],
        "never": _count_document("nodes", scenarios.never) if is_rest else [],
    }


def _count_document(unit: str, counts: Mapping[Reason, int]) -> list[dict[str, Any]]:
    most = sorted(counts.items(), key=lambda row: (-row[1], row[0].value))
    return [{"reason": reason.value, unit: number} for reason, number in most]
