"""The ladder in words: a row for each rung, what holds a policy up, and the headline. Pure: values in, text out.

Must not decide anything, and must not know the terminal.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from functions.cli.analysis.forecast.ladder import Ladder, LadderStep, Rung
from functions.cli.format import by_the_minute, clock, count, some, span
from functions.cli.plan.ladder_money import LadderMoney
from shared.core.reasons import Reason

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
