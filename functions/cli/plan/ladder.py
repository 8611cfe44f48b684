"""The ladder (scenarios) in words, money and JSON: rows, headline, and what holds a policy up."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from functions.cli.analysis.forecast.ladder import Ladder, LadderStep, Rung
from functions.cli.output.format import (
    by_the_minute,
    clock,
    count,
    dollars_a_month,
    rfc3339,
    rounded_year,
    some,
    span,
    whole_money,
    year_unit,
)
from shared.core.reasons import Reason

_KNOWN_OF_SAVED: Final = 2
_SUMMED: Final[Mapping[Rung, Callable[[Ladder], LadderStep]]] = {
    Rung.NOW: lambda ladder: ladder.now,
    Rung.AUTOSCALER_ALONE: lambda ladder: ladder.alone,
    Rung.POLICY_AT_REST: lambda ladder: ladder.at_rest,
    Rung.BOUND: lambda ladder: ladder.bound,
}
"""The rungs that ladders have one of each, so that several add up."""


class LadderMoney:
    """Says what each rung of one ladder costs, and what lies between two; `parts` are those that it is the sum of."""

    def __init__(self, ladder: Ladder, parts: Sequence[Ladder] = ()) -> None:
        self._now, self._parts = ladder.now.cost, parts
        self._unit = min(
            year_unit(ladder.now.cost),
            year_unit(ladder.now.cost - ladder.at_rest.cost or ladder.now.cost, _KNOWN_OF_SAVED),
        )

    def month(self, step: LadderStep) -> str:
        return whole_money(self.whole_month(step), of=step.cost)

    def whole_month(self, step: LadderStep) -> int:
        if not self._parts:
            return month_beside(self._now, step.cost)
        return sum(month_beside(each.now.cost, _SUMMED[step.rung](each).cost) for each in self._parts)

    def year(self, step: LadderStep) -> str:
        return whole_money(rounded_year(self._now, self._unit) - self._saved_year(step), of=step.cost)

    def saved_month(self, step: LadderStep) -> str:
        return whole_money(self._saved_month(step), of=self._now - step.cost)

    def saved_year(self, step: LadderStep) -> str:
        return whole_money(self._saved_year(step), of=self._now - step.cost)

    def saved_share(self, step: LadderStep) -> str:
        """Return how much of what is paid now is saved, never more than is."""
        return f"{(self._now - step.cost) * 100 // self._now}%" if self._now else "0%"

    def between_months(self, one: LadderStep, other: LadderStep) -> str:
        """Return by how much a month of the one differs from one of the other, without a sign."""
        return whole_money(abs(self._saved_month(one) - self._saved_month(other)), of=abs(one.cost - other.cost))

    def between_years(self, one: LadderStep, other: LadderStep) -> str:
        return whole_money(abs(self._saved_year(one) - self._saved_year(other)), of=abs(one.cost - other.cost))

    def _saved_month(self, step: LadderStep) -> int:
        if not self._parts:
            return _month(self._now - step.cost)
        return sum(_month(each.now.cost - _SUMMED[step.rung](each).cost) for each in self._parts)

    def _saved_year(self, step: LadderStep) -> int:
        return rounded_year(self._now - step.cost, self._unit)


def month_beside(now: int, cost: int) -> int:
    """Return whole units of the currency for a month of what is left, beside what there was."""
    return _month(now) - _month(now - cost)


def _month(amount: int) -> int:
    return round(dollars_a_month(amount))


POLICY: Final = "this policy"
DEFAULTS: Final = "default settings"
_TITLES: Final = {
    Rung.NOW: "now",
    Rung.AUTOSCALER_ALONE: "the autoscaler alone",
    Rung.POLICY_AT_REST: "{whose} at rest",
    Rung.BOUND: "no plan goes below",
}
_WISHES: Final = {
    "jobs": "moving running Jobs",
    "limits": "no ratio limits",
    "required_count": "no required count of nodes",
    "excess": "no excess nodes asked for",
    "pools": "all pools enabled",
    "local_storage": "moving local storage",
    "pdb": "room in {about}",
}
UNTRIED: Final = (
    "A cluster of this size is told in few large rounds, and what relaxing would add was not tried: ebb why-not does."
)
AT_MOST: Final = "≤"
AT_LEAST: Final = "≥"
CUT_SHORT: Final = f"{AT_MOST}: followed for a few rounds only, and may come to less: ebb why-not follows it further."
_MOST_HELD: Final = 2


@dataclass(frozen=True, slots=True)
class LadderRow:
    """One rung: its title, and the figures of it as they are printed."""

    title: str
    nodes: str
    month: str
    year: str
    share: str
    """Of what is paid now, saved."""
    evictions: str
    """For each node that goes."""
    relaxed: bool = False


def rows(ladder: Ladder, whose: str) -> tuple[LadderRow, ...]:
    """Return a row for each rung; `whose` are the settings at rest."""
    money = LadderMoney(ladder)
    return tuple(_row(step, whose, money) for step in ladder.steps)


def headline(ladder: Ladder, whose: str, now: datetime, parts: Sequence[Ladder] = ()) -> str:
    """Return what a reader keeps: now, the autoscaler alone, the policy at rest, and what that saves.

    `parts` are the ladders that it is the sum of.
    """
    first, alone, rest = ladder.now, ladder.alone, ladder.at_rest
    by = f" by {clock(by_the_minute(ladder.by), now)} UTC" if ladder.by else ""
    money, beyond = LadderMoney(ladder, parts), alone.cost - rest.cost
    saved = f"{money.saved_month(rest)} a month ({money.saved_year(rest)} a year)"
    other = f"{money.between_months(alone, rest)} {'more' if beyond > 0 else 'less'} than by the autoscaler alone"
    return (
        f"{count(first.nodes, 'node')} for {money.month(first)} a month now; the autoscaler alone comes to "
        f"{alone.nodes:,} for {money.month(alone)}, {whose} at rest to {rest.nodes:,} for "
        f"{money.month(rest)}{by}. Saved: {saved}, {other if beyond else 'no more than by the autoscaler alone'}."
    )


def sentences(ladder: Ladder, now: datetime) -> Iterator[str]:
    """Yield what the rungs do not say: by when, what holds it up, what never goes, and what was not tried."""
    if ladder.by:
        by = by_the_minute(ladder.by)
        begun = now.replace(second=0, microsecond=0)
        yield f"At rest by {clock(by, now)} UTC, in {span(by - begun)}{_held(ladder.held_up)}."
    if ladder.alone.gone:
        yield "At rest counts what the autoscaler takes by itself meanwhile, too."
    for reason, nodes in sorted(ladder.never.items(), key=lambda each: -each[1]):
        yield f"{count(nodes, 'node')} could go, and never may: {reason.value}. {reason.sentence}"
    if ladder.idle:
        yield f"Given up alone these add nothing: {some([wish(each) for each in ladder.idle])}."
    if not all(map(is_followed, ladder.steps)):
        yield CUT_SHORT
    if ladder.untried:
        yield UNTRIED


def wish(step: LadderStep) -> str:
    """Return what is given up in a relaxed rung, in words."""
    return _WISHES[step.wish].format(about=step.about)


def is_followed(step: LadderStep) -> bool:
    """Whether a rung is the whole of what its wish comes to."""
    return step.is_rest or not step.wish


def _held(held_up: Mapping[Reason, int]) -> str:
    most = sorted(held_up.items(), key=lambda each: -each[1])[:_MOST_HELD]
    told = (f"{reason.value} ({span(timedelta(seconds=seconds))})" for reason, seconds in most)
    return f"; held up longest by {', '.join(told)}" if most else ""


def _row(step: LadderStep, whose: str, money: LadderMoney) -> LadderRow:
    title = f"  + {wish(step)}" if step.wish else _TITLES[step.rung]
    each = f"{step.evictions / step.gone:.1f}" if step.gone else "-"
    most, least = ("", "") if is_followed(step) else (AT_MOST, AT_LEAST)
    cells = f"{most}{step.nodes:,}", f"{most}{money.month(step)}", f"{most}{money.year(step)}"
    saved = "-" if step.rung is Rung.NOW else f"{least}{money.saved_share(step)}"
    return LadderRow(title.format(whose=whose), *cells, saved, each, relaxed=bool(step.wish))


def title(ladder: Ladder, money: LadderMoney, whose: str, where: str = "") -> str:
    """Return the sentence; `whose` are the settings at rest, `where` are the clusters if there are several."""
    among = f" in {where}" if where else ""
    saved = ladder.now.cost - ladder.at_rest.cost
    if not saved:
        stay = "1 node stays" if ladder.now.nodes == 1 else f"all {count(ladder.now.nodes, 'node')} stay"
        return f"{_capital(whose)} would save nothing{among or ' here'}: {stay}"
    told = money.saved_month(ladder.at_rest)
    if ladder.at_rest.cost == ladder.alone.cost:
        return f"The autoscaler alone would save {told} a month{among}; {whose} would add nothing"
    share = f", {money.saved_share(ladder.at_rest)} of the cost" if ladder.now.cost else ""
    instead = f"{ladder.at_rest.nodes:,} nodes instead of {ladder.now.nodes:,}"
    return f"{_capital(whose)} would save {told} a month{among}{share}: {instead}{_alone(ladder, money)}"


def _alone(ladder: Ladder, money: LadderMoney) -> str:
    if ladder.alone.cost >= ladder.now.cost:
        return ""
    of_it = " of it" if ladder.alone.cost > ladder.at_rest.cost else ""
    return f"; the autoscaler alone would save {money.saved_month(ladder.alone)}{of_it}"


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def rungs(ladder: Ladder) -> list[dict[str, Any]]:
    """Return a value for each rung, in order; every key is always there."""
    return [_rung(step, ladder) for step in ladder.steps]


def _rung(step: LadderStep, ladder: Ladder) -> dict[str, Any]:
    is_rest = step.rung is Rung.POLICY_AT_REST
    return {
        "rung": step.rung.value,
        "wish": step.wish or None,
        "about": step.about or None,
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
