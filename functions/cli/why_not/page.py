"""The changes on a terminal, the most money first: what each would free, and how it would be made.

Must not rank: the core has. Must not word anything.
"""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.analysis.what_if import Freed, WhyNot
from functions.cli.why_not import words
from functions.cli.why_not.how import how


def show(console: Console, found: WhyNot, whose: str) -> None:
    """Print what the policy comes to, what single changes free beyond it, and what was not tried."""
    console.print(words.base(found, whose))
    freeing = words.freeing(found)
    if freeing:
        console.print(f"{words.FREES}\n")
        console.print(_table(freeing))
        if not words.is_whole(freeing):
            console.print(f"\n{words.AT_LEAST}")
    else:
        console.print(words.NOTHING)
    for number, line in enumerate(words.others(found)):
        console.print(line if number else f"\n{line}", style="dim")


def _table(freed: Sequence[Freed]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("frees/mo", justify="right", no_wrap=True)
    table.add_column("nodes", justify="right", no_wrap=True)
    table.add_column("without", overflow="fold")
    for each in freed:
        table.add_row(words.frees(each), f"{each.nodes:,}", Text(words.named(each.subject), style="bold"))
        table.add_row("", "", words.meaning(each.subject))
        table.add_row("", "", Text(how(each.subject), style="cyan"))
    return table
