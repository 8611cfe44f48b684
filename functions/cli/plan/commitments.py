"""Commitments in sentences: what of them is idle, what their ends change, and what is not known of their use."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Final

from functions.cli.analysis.forecast.scenarios import (
    Committed,
    CommittedRow,
    LaterAddition,
    Scenario,
    Scenarios,
    UsedPart,
)
from functions.cli.output.format import some, whole_money, whole_month
from functions.cli.plan.scenarios import AT_LEAST, AT_MOST, ScenarioMoney, paid_cost
from shared.core.placement.search import LITTLE
from shared.core.policy.values import FLEXIBLE, end_order

UNKNOWN_USE: Final = (
    "Ebb adds {bill} a month if nothing else in {region} uses the commitments ({families}), and {listed} if other "
    "machines use all of them."
)
SAME: Final = "Ebb counts as if nothing else in {region} used the commitments ({families})."
ELSEWHERE: Final = "cluster.commitments.elsewhere can name what other machines use."
OF_THE_ACCOUNT: Final = (
    "Ebb counts as if this cluster used the whole flexible commitment of the billing account. "
    "cluster.commitments.flexible.perHour can be the cluster's part."
)


def sentences(committed: Committed, scenarios: Scenarios) -> Iterator[str]:
    """Yield what is not known, what is paid for and idle, and from when on Ebb adds more."""
    yield from _of_unknown_use(committed, scenarios)
    yield from idle(committed)
    yield from _later(committed.later, _added_saving(scenarios, paid_cost))


def _added_saving(scenarios: Scenarios, amount: Callable[[Scenario], int]) -> int:
    """Return what Ebb adds in micro-dollars an hour: unlike what is printed, a sum of nothing that is rounded."""
    return max(amount(scenarios.alone) - amount(scenarios.at_rest), 0)


def _of_unknown_use(committed: Committed, scenarios: Scenarios) -> Iterator[str]:
    money = ScenarioMoney(scenarios)
    if committed.use_elsewhere_is_known or money.listed is None:
        return
    named = sorted({row.family for row in committed.rows})
    if named == [FLEXIBLE]:
        yield OF_THE_ACCOUNT
        return
    families, region = some(named), committed.region or "the region"
    bill, listed = (whole_money(max(kind.added, 0)) for kind in (money, money.listed))
    differ = _added_saving(scenarios, lambda scenario: scenario.cost) - _added_saving(scenarios, paid_cost)
    what = UNKNOWN_USE if whole_month(differ) else SAME
    yield f"{what} {ELSEWHERE}".format(bill=bill, listed=listed, families=families, region=region)


def idle(committed: Committed) -> Iterator[str]:
    """Yield a sentence for each end of commitments of which some is idle, in steady state if that is known."""
    found = [(row, part) for row in committed.rows if (part := row.at_rest or row.now).idle > LITTLE]
    rows = sorted(found, key=lambda pair: (*end_order(pair[0].until), pair[0].family))
    for until, own in groupby(rows, key=lambda pair: pair[0].until):
        yield _of_idle(until, list(own))


def _of_idle(until: datetime | None, rows: Sequence[tuple[CommittedRow, UsedPart]]) -> str:
    month = whole_money(whole_month(sum(part.idle for _, part in rows)))
    when = f" until {until:%Y-%m-%d}" if until else ""
    steady = " in steady state" if rows[0][0].at_rest else ""
    own = groupby(rows, key=lambda pair: pair[0].family)
    what = "; ".join(_of_family(family, list(parts)) for family, parts in own)
    return f"Committed and idle{steady}: {month} a month{when} ({what}). Do not renew it, unless other hours need it."


def _of_family(family: str, rows: Sequence[tuple[CommittedRow, UsedPart]]) -> str:
    """Return how much of a family is idle; of a flexible commitment how many dollars a month."""
    if family == FLEXIBLE:
        return f"{FLEXIBLE}: {whole_money(whole_month(sum(part.idle for _, part in rows)))}"
    left = [(row.size, part.used) for row, part in rows if row.size and part.used]
    vcpu, gib = sum(size.vcpu - used.vcpu for size, used in left), sum(size.gib - used.gib for size, used in left)
    amounts = (f"{float(amount):g} {unit}" for amount, unit in ((vcpu, "vCPU"), (gib, "GiB")) if amount)
    return f"{family}: {', '.join(amounts)}"


def _later(additions: Sequence[LaterAddition], added: int) -> Iterator[str]:
    """Yield the ends from which on Ebb adds more than before; `added` is what it adds now."""
    for addition in additions:
        if whole_month(addition.added - added) > 0:
            yield _of_later(addition)
        added = max(added, addition.added)


def _of_later(addition: LaterAddition) -> str:
    these, verb = ("commitment", "ends") if len(addition.families) == 1 else ("commitments", "end")
    nodes = f"{'' if addition.is_rest else AT_MOST}{addition.nodes:,}"
    least = "" if addition.is_rest else AT_LEAST
    families = some(addition.families)
    return (
        f"From {addition.at:%Y-%m-%d}, when the {families} {these} {verb}, "
        f"Ebb adds {least}{whole_money(whole_month(addition.added))} a month: {nodes} nodes stay."
    )
