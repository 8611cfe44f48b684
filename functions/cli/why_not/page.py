"""The changes on a terminal, the most money first: what each would free, and how it would be made.

Must not rank: the core has.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from functions.cli.format import count, monthly, some, whole_money
from functions.cli.plan.ladder_money import month_beside
from functions.cli.plan.sentences import reason_of
from functions.cli.why_not.how import how
from shared.core.forecast.why_not import Freed, WhyNot
from shared.core.placement.exclusions import Exclusion
from shared.core.planning.lifting import Subject
from shared.core.planning.subjects import Held
from shared.core.reasons import Reason

_WORDS: Final[Mapping[Reason, str]] = {Exclusion.ROOM: "headroom"}
_SENTENCES: Final[Mapping[Reason, str]] = {
    Exclusion.ROOM: "The share of each remaining node that the policy keeps free.",
}
"""What a change is called where the reason speaks of a single node."""
AT_LEAST: Final = "\nWhat ends in + was followed for a number of rounds only: it frees at least so much."


def show(console: Console, found: WhyNot, whose: str) -> None:
    """Print what the policy comes to, what single changes free beyond it, and what was not tried."""
    console.print(base(found, whose))
    freeing = [each for each in found.freed if each.saving]
    idle = [each.held for each in found.freed if not each.saving]
    if freeing:
        console.print("Each of these changes alone, planned anew from there until nothing more goes, frees:\n")
        console.print(_table(freeing))
        if not all(each.is_rest for each in freeing):
            console.print(AT_LEAST)
    else:
        console.print("No single change that was tried would free more.")
    for number, line in enumerate(_others(found, idle)):
        console.print(line if number else f"\n{line}", style="dim")


def base(found: WhyNot, whose: str) -> str:
    """Return what is there now, and what the policy comes to: the rung of the ladder."""
    nodes, left, prices = found.base.situation.snapshot.nodes, found.base.rest.snapshot.nodes, found.base.prices
    now, rest = prices.of_all(nodes), prices.of_all(left)
    month = whole_money(month_beside(now, rest), of=rest)
    return (
        f"{count(len(nodes), 'node')} for {monthly(now)} a month now; {whose} at rest: "
        f"{count(len(left), 'node')} for {month}, as in the ladder of ebb plan."
    )


def _others(found: WhyNot, idle: Sequence[Held]) -> Sequence[str]:
    """Return a sentence for each group of changes that are not in the table, with the most that one of them holds."""
    rows = (
        (idle, "{changes} tried would free nothing alone: {names}."),
        (found.hopeless, "{changes} cannot free anything, by the bound: {names}."),
        (
            found.passing,
            f"{{changes}} not tried: at rest {_kept_too(found)} these, too (of {{most}} a month at most): {{names}}.",
        ),
        (found.left, "{changes} not tried, each on nodes of {most} a month at most (--top N tries more): {names}."),
    )
    return [_told(text, held) for held, text in rows if held]


def _kept_too(found: WhyNot) -> str:
    """Return what by then is in the way of the nodes that are not tried, as far as they are still there."""
    nodes = {name for held in found.passing for name in held.nodes}
    words = Counter(reason_of(each).removeprefix("pod: ") for each in found.base.decisions if each.name in nodes)
    named = some([word for word, _ in words.most_common()], 4)
    return f"{named} keep{'s' if len(words) == 1 else ''}" if words else "something else keeps"


def _told(text: str, held: Sequence[Held]) -> str:
    most = monthly(max(each.cost for each in held))
    return text.format(changes=count(len(held), "change"), names=_names(held), most=most)


def _table(freed: Sequence[Freed]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("frees/mo", justify="right", no_wrap=True)
    table.add_column("nodes", justify="right", no_wrap=True)
    table.add_column("without", overflow="fold")
    for each in freed:
        more = "" if each.is_rest else "+"
        table.add_row(f"{monthly(each.saving)}{more}", f"{each.nodes:,}", Text(_named(each.subject), style="bold"))
        table.add_row("", "", _SENTENCES.get(each.subject.reason, each.subject.reason.sentence))
        table.add_row("", "", Text(how(each.subject), style="cyan"))
    return table


def _named(subject: Subject) -> str:
    word = _WORDS.get(subject.reason, subject.reason.value)
    return " ".join(filter(None, (word, subject.object, subject.detail)))


def _names(held: Sequence[Held]) -> str:
    return some([_named(each.subject) for each in held], 4)
