"""The one sentence of a ladder that a reader keeps: what is saved, and what of it the autoscaler would save alone.

The title of the report of one cluster and of the page of a fleet. Must not decide anything.
"""

from functions.cli.analysis.forecast.ladder import Ladder
from functions.cli.format import count
from functions.cli.plan.ladder_money import LadderMoney


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
