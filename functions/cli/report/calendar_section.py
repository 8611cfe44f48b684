"""A week of windows and budgets: how many nodes of each pool may go in each hour. `calendar_view` asks the core."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from functions.cli.policy.bars import letters
from functions.cli.policy.calendar_view import CalendarQuestion, Day, Hour, calendar, zones
from functions.cli.policy.limits import NodeLimit, Sizes
from functions.cli.report.material import Material
from shared.core.policy.schedule import zone_of

DAYS: Final = 7
_UTC: Final = "UTC"


def week(material: Material) -> dict[str, Any]:
    """Return a week from the picture's day on, for each set of pools with equal days."""
    question = _question(material)
    pools = [name for name in material.now.nodes_by_pool if name and material.policy.pool(name).enabled]
    days = calendar(question, pools)
    alike: dict[tuple[Day, ...], list[str]] = {}
    for pool in pools:
        alike.setdefault(days[pool], []).append(pool)
    return {
        "time_zone": question.zone.key,
        "pools": [_pools(names, rows) for rows, names in alike.items()],
        "off": [name for name in material.now.nodes_by_pool if name and not material.policy.pool(name).enabled],
        "notes": list(_notes(material)),
    }


def _question(material: Material) -> CalendarQuestion:
    used = zones(material.policy)
    zone = zone_of(used[0] if len(used) == 1 else _UTC)
    sizes = Sizes({name: len(nodes) for name, nodes in material.now.nodes_by_pool.items()}, len(material.now.nodes))
    return CalendarQuestion(material.policy, sizes, zone, material.now.taken_at.astimezone(zone).date(), DAYS)


def _notes(material: Material) -> Iterator[str]:
    if material.policy.paused:
        yield "paused is true: nothing is drained at any time."
    elif material.policy.dry_run:
        yield "dryRun is true: nothing is drained at any time. This is what holds once it is false."
    if len(zones(material.policy)) > 1:
        yield f"Schedules are written for {', '.join(zones(material.policy))}; the hours are those of UTC."


def _pools(names: Sequence[str], days: Sequence[Day]) -> dict[str, Any]:
    keys = letters(days)
    legend = [{"letter": key, "nodes": limit.amount, "why": limit.why} for limit, key in keys.items()]
    rows = [{"day": f"{day.date:%a} {day.date.day} {day.date:%b}", "runs": list(_runs(day, keys))} for day in days]
    return {"names": list(names), "always": len(keys) == 1, "legend": legend, "days": rows}


def _runs(day: Day, keys: dict[NodeLimit, str]) -> Iterator[dict[str, Any]]:
    """Yield runs of equal hours; a run without a letter is one that the clock skips."""
    begin = 0
    for (limit, changes), run in groupby(day.hours, key=_alike):
        hours = len(list(run))
        amount = limit.amount if limit else ""
        letter = keys[limit] if limit else ""
        none = limit is not None and limit.none
        yield {"from": begin, "hours": hours, "letter": letter, "nodes": amount, "none": none, "changes": changes}
        begin += hours


def _alike(hour: Hour | None) -> tuple[NodeLimit | None, bool]:
    return (hour.limit, hour.changes) if hour else (None, False)
