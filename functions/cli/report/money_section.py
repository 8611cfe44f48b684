"""The ladder, the pools and the blockers with their money, each figure as the table prints it.

Beside what is printed stand whole micro-dollars an hour, for lengths of bars.
"""

from typing import Any, Final

from functions.cli.analysis.forecast.ladder import Ladder, LadderStep, Rung
from functions.cli.analysis.pools import PoolSummary
from functions.cli.output.format import count, monthly, monthly_parts, percent
from functions.cli.plan.ladder import LadderMoney, is_followed
from functions.cli.plan.ladder import title as ladder_title
from functions.cli.plan.sentences import HOLDING, LegendEntry
from functions.cli.plan.tables import ALL, HEADINGS
from functions.cli.report.material import Material
from shared.core.reasons import PodBlock, Unremovable, named

_OBJECTS: Final = 3


def title(material: Material) -> str:
    """Return the one sentence that a reader keeps."""
    ladder, whose = material.ladder, material.whose
    if ladder is None:
        return f"{count(material.view.totals.nodes, 'node')} for {monthly(material.view.totals.cost)} a month"
    return ladder_title(ladder, LadderMoney(ladder), whose)


def key_figures(material: Material) -> list[dict[str, Any]]:
    """Return the figures on top: a label, the figure, and what it rests on."""
    ladder = material.ladder
    if ladder is None:
        return []
    first, alone, rest = ladder.now, ladder.alone, ladder.at_rest
    money, saved = LadderMoney(ladder), first.cost - rest.cost
    each = f"{rest.evictions / rest.gone:.1f} for each node that goes" if rest.gone else "no node goes"
    return [
        _figure("Now, a month", money.month(first), count(first.nodes, "node")),
        _figure("The autoscaler alone, a month", money.month(alone), count(alone.nodes, "node")),
        _figure("Saved in a year", money.saved_year(rest), _beyond(ladder, money), good=saved > 0),
        _figure("Evictions until then", f"{rest.evictions:,}", each),
    ]


def ladder_rows(material: Material) -> list[dict[str, Any]]:
    """Return the rungs as the table prints them; `from` is the cost that a rung is told against."""
    shown = material.view.ladder
    if shown is None:
        return []
    pairs = zip(shown.ladder.steps, shown.rows, strict=True)
    return [
        {
            "rung": step.rung.value,
            "title": row.title.strip(),
            "nodes": row.nodes,
            "month": row.month,
            "year": row.year,
            "saved": _saved(shown.ladder, step),
            "evictions": row.evictions,
            "relaxed": row.relaxed,
            "cost": step.cost,
            "from": _against(shown.ladder, step).cost,
        }
        for step, row in pairs
    ]


def pools(material: Material) -> list[dict[str, Any]]:
    """Return a row for each pool, and the sum below where there are several."""
    view = material.view
    months = (*monthly_parts([each.cost for each in view.pools]), monthly(view.whole.cost))
    saved = (*monthly_parts([each.rest_save for each in view.pools]), monthly(view.whole.rest_save))
    rows = [*view.pools, view.whole] if len(view.pools) > 1 else list(view.pools)
    known = view.ladder is not None
    return [_pool(each, month, rest if known else None) for each, month, rest in zip(rows, months, saved, strict=False)]


def blockers(material: Material) -> list[dict[str, Any]]:
    """Return what keeps nodes under the table's headings, those that hold most first, each with its remedy."""
    found = []
    for kind in HOLDING:
        own = [each for each in material.view.legend if each.kind is kind]
        if own:
            found.append({"title": HEADINGS[kind], "rows": [_blocker(each) for each in own]})
    return found


def reasons(material: Material) -> dict[str, dict[str, str]]:
    """Return the sentence and the remedy of each reason that stands in a node's way, by its word."""
    said = {each.reason: each for node in material.view.nodes for each in node.blockers}
    return {word: {"sentence": each.sentence, "remedy": each.remedy} for word, each in sorted(said.items())}


def _figure(label: str, value: str, note: str, *, good: bool = False) -> dict[str, Any]:
    return {"label": label, "value": value, "note": note, "good": good}


def _beyond(ladder: Ladder, money: LadderMoney) -> str:
    beyond = ladder.alone.cost - ladder.at_rest.cost
    if not beyond:
        return "no more than by the autoscaler alone"
    told = money.between_years(ladder.alone, ladder.at_rest)
    return f"{told} {'more' if beyond > 0 else 'less'} than by the autoscaler alone"


def _against(ladder: Ladder, step: LadderStep) -> LadderStep:
    """Return the rung that a rung is told against: a wish given up and the bound go on from the policy at rest."""
    return ladder.at_rest if step.rung in {Rung.RELAXED, Rung.BOUND} else ladder.now


def _saved(ladder: Ladder, step: LadderStep) -> str:
    against = _against(ladder, step)
    if step.rung is Rung.NOW or against.cost == step.cost:
        return "-"
    told = LadderMoney(ladder).between_months(against, step)
    if against.cost < step.cost:
        return f"+{told}"
    return f"-{told}" if is_followed(step) else f"-{told} or more"


def _pool(pool: PoolSummary, month: str, saved: str | None) -> dict[str, Any]:
    return {
        "name": ALL if pool.pool is None else pool.pool,
        "sum": pool.pool is None,
        "nodes": pool.nodes,
        "goes": None if saved is None else pool.rest_go,
        "cpu": percent(pool.cpu_ratio),
        "memory": percent(pool.memory_ratio),
        "month": month,
        "saved": saved,
    }


def _blocker(entry: LegendEntry) -> dict[str, Any]:
    reason = named(entry.word, Unremovable, PodBlock)
    return {
        "reason": entry.word,
        "nodes": entry.nodes,
        "month": monthly(entry.cost),
        "cost": entry.cost,
        "sentence": entry.sentence,
        "remedy": reason.remedy if reason else "",
        "about": entry.some_objects(_OBJECTS),
    }
