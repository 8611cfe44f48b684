"""The changes on a terminal, the most money first: what each would free, and how it would be made.

Must not rank: the core has.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.format import count, monthly, some
from functions.cli.why_not.how import how
from shared.core.placement.exclusions import Exclusion
from shared.core.planning.lifting import Subject
from shared.core.planning.why_not import Freed, WhyNot
from shared.core.reasons import Reason

_WORDS: Final[Mapping[Reason, str]] = {Exclusion.ROOM: "headroom"}
_SENTENCES: Final[Mapping[Reason, str]] = {
    Exclusion.ROOM: "The share of each remaining node that the policy keeps free.",
}
"""What a change is called where the reason speaks of a single node."""


def show(console: Console, found: WhyNot, cost: int) -> None:
    """Print what the policy reaches, what single changes free, and what was not tried."""
    reached = f"{count(found.nodes, 'node')} of {monthly(found.saving)} a month"
    console.print(
        f"Of the cluster as it is, Ebb alone would take {reached}, of {monthly(cost)}, once all that only takes time "
        "has passed. What the autoscaler takes besides, and what opens up after that, is in the ladder of ebb plan."
    )
    freeing = [each for each in found.freed if each.saving]
    idle = [each for each in found.freed if not each.saving]
    if freeing:
        console.print("Each of these changes alone, planned anew, would free so much more:\n")
        console.print(_table(freeing))
    else:
        console.print("No single change that was tried would free more.")
    if idle:
        console.print(f"\n{count(len(idle), 'change')} would free nothing alone: {_names(idle)}.", style="dim")
    if found.left:
        most = monthly(found.left[0].cost)
        left = count(len(found.left), "change")
        console.print(f"\n{left} not tried, each on nodes of {most} a month at most: --top N tries more.")


def _table(freed: Sequence[Freed]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("frees/mo", justify="right", no_wrap=True)
    table.add_column("nodes", justify="right", no_wrap=True)
    table.add_column("without", overflow="fold")
    for each in freed:
        table.add_row(monthly(each.saving), f"{each.nodes:+,}", Text(_named(each.subject), style="bold"))
        table.add_row("", "", _SENTENCES.get(each.subject.reason, each.subject.reason.sentence))
        table.add_row("", "", Text(how(each.subject), style="cyan"))
    return table


def _named(subject: Subject) -> str:
    word = _WORDS.get(subject.reason, subject.reason.value)
    return " ".join(filter(None, (word, subject.object, subject.detail)))


def _names(idle: Sequence[Freed]) -> str:
    return some([_named(each.subject) for each in idle], 4)
