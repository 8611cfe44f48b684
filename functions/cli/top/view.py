"""What `ebb top` draws of one moment: nodes as bars with a sign each, drains, money. Values in, lines out."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from fractions import Fraction
from typing import Final

from rich.text import Text

from functions.cli.output.bars import grid, legend
from functions.cli.output.format import clock, count, moment, monthly, monthly_parts, some
from shared.core.cluster.names import AUTOSCALER_DELETING_TAINT, OUR_TAINT
from shared.core.cluster.node import Node
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.plan import NodeDecision, Plan, Verdict
from shared.core.reasons import PodBlock


class Sign(Enum):
    """The state of a node, with the mark before its bar."""

    KEPT = " ", "kept", "default"
    MARKED = "~", "removable, waits", "cyan"
    NEXT = ">", "removable now", "blue"
    DRAINING = "x", "drained by Ebb", "yellow"
    AUTOSCALER = "a", "deleted by the autoscaler", "bright_yellow"
    CORDONED = "p", "cordoned by another user", "bright_blue"
    NOT_READY = "!", "not ready", "bold red"
    POD = "#", "kept by a pod", "bright_blue"
    GONE = "-", "gone", "bright_black"

    def __init__(self, mark: str, word: str, style: str) -> None:
        self.mark, self.word, self.style = mark, word, style


_SIGNS: Final = (
    (Sign.AUTOSCALER, lambda node, _: node.has_taint(AUTOSCALER_DELETING_TAINT)),
    (Sign.DRAINING, lambda node, decision: decision.verdict is Verdict.IN_FLIGHT or node.has_taint(OUR_TAINT)),
    (Sign.CORDONED, lambda node, _: node.unschedulable),
    (Sign.NOT_READY, lambda node, _: not node.ready),
    (Sign.NEXT, lambda _, decision: decision.verdict in {Verdict.ORDER, Verdict.WOULD_ORDER}),
    (Sign.MARKED, lambda _, decision: decision.verdict is Verdict.WAITING),
    (Sign.POD, lambda _, decision: any(isinstance(each.reason, PodBlock) for each in decision.blockers)),
)
"""The first that holds is the node's."""


def sign_of(node: Node, decision: NodeDecision) -> Sign:
    return next((sign for sign, holds in _SIGNS if holds(node, decision)), Sign.KEPT)


@dataclass(frozen=True, slots=True)
class NodeBar:
    """One node; `share` is the part of its CPU that pods request, `cost` micro-dollars per hour."""

    name: str
    pool: str
    sign: Sign
    share: Fraction | None
    cost: int


@dataclass(frozen=True, slots=True)
class LiveView:
    """One moment of a cluster; nodes that are gone since the first one stay in it."""

    cluster: str
    taken_at: datetime
    bars: tuple[NodeBar, ...]
    pods: int
    pending: int
    bill: int | None = None
    """What is paid for all nodes with commitments, in micro-dollars per hour; None where nothing is committed."""
    saved: Mapping[Sign, int] = field(default_factory=dict)
    """What the bill falls by without all nodes of a sign, where capacity is committed."""
    first: "LiveView | None" = None
    """The first moment that was seen."""

    @property
    def alive(self) -> tuple[NodeBar, ...]:
        return tuple(bar for bar in self.bars if bar.sign is not Sign.GONE)

    def of(self, *signs: Sign) -> tuple[NodeBar, ...]:
        return tuple(bar for bar in self.bars if bar.sign in signs)


def view_of(plan: Plan, snapshot: Snapshot, before: LiveView | None = None) -> LiveView:
    """Return the moment of a plan; nodes of the moment before that it lacks are gone."""
    nodes = {node.name: node for node in snapshot.nodes}
    now = {
        each.name: NodeBar(each.name, each.pool, sign_of(nodes[each.name], each), each.cpu_ratio, each.cost)
        for each in plan.decisions
    }
    gone = {
        bar.name: NodeBar(bar.name, bar.pool, Sign.GONE, None, 0)
        for bar in (before.bars if before else ())
        if bar.name not in now
    }
    bars = sorted((*now.values(), *gone.values()), key=lambda bar: (bar.pool, bar.name))
    first = (before.first or before) if before else None
    view = LiveView(plan.cluster, plan.taken_at, tuple(bars), plan.pods, plan.pending, first=first)
    savings = plan.savings
    if savings is None or savings.bill.is_list:
        return view
    saved = {sign: savings.of_all(nodes[bar.name] for bar in view.of(sign)) for sign in (Sign.NEXT, Sign.MARKED)}
    return replace(view, bill=savings.bill.of_all(snapshot.nodes), saved=saved)


_LONGEST_NAME: Final = 12


def lines(view: LiveView, width: int, height: int, scrolled: int = 0, failure: str = "") -> list[Text]:
    """Return what fits a screen: heads and feet, and between them the rows of nodes from `scrolled` on."""
    heads, feet, rows = list(_heads(view)), list(_feet(view, width, failure)), list(_rows(view, width))
    room = max(1, height - len(heads) - len(feet))
    if len(rows) > room:
        begin = min(scrolled, len(rows) - room + 1)
        left = len(rows) - begin - room + 1
        more = [Text(f"… {count(left, 'row')} more: j and k scroll", style="bright_black")] if left else []
        rows = [*rows[begin : begin + room - len(more)], *more]
    shown = [*heads, *rows, *feet]
    for line in shown:
        line.truncate(width, overflow="ellipsis")
    return shown


def _heads(view: LiveView) -> Iterator[Text]:
    alive = view.alive
    pending = f", {view.pending:,} pending" if view.pending else ""
    listed = monthly(sum(bar.cost for bar in alive))
    money = f"{listed} a month" if view.bill is None else f"{monthly(view.bill)} a month ({listed} at list prices)"
    yield Text(view.cluster, style="bold")
    nodes, pods = count(len(alive), "node"), count(view.pods, "pod")
    yield Text(f"{moment(view.taken_at)}  {nodes}, {pods}{pending}, {money}")
    drained, (now, later) = view.of(Sign.DRAINING), (_worth(view, sign) for sign in (Sign.NEXT, Sign.MARKED))
    yield Text(f"removable: {now} now, {later} later; drains in progress: {len(drained)}")
    if drained:
        yield Text(f"draining {some([bar.name for bar in drained])}", style=Sign.DRAINING.style)
    if view.first:
        yield _since(view, view.first)


def _worth(view: LiveView, sign: Sign) -> str:
    """Return how many nodes have the sign, and what is saved without them."""
    bars = view.of(sign)
    saved = view.saved.get(sign, sum(bar.cost for bar in bars))
    return f"{len(bars)} ({monthly(saved)} a month)" if bars else "0"


def _since(view: LiveView, first: LiveView) -> Text:
    here = {bar.name for bar in view.alive}
    there = {bar.name for bar in first.alive}
    less = _paid(first) - _paid(view)
    changed = f"{len(there - here)} removed, {len(here - there)} added"
    money = f", {monthly(abs(less))} a month {'less' if less > 0 else 'more'}" if less else ""
    return Text(f"since {clock(first.taken_at, view.taken_at)} UTC: {changed}{money}", style="bright_black")


def _paid(view: LiveView) -> int:
    return sum(bar.cost for bar in view.alive) if view.bill is None else view.bill


def _rows(view: LiveView, width: int) -> Iterator[Text]:
    """Yield a title for each pool, and its nodes; what the pools cost adds up to the cluster's figure."""
    longest = max((len(_short(bar.name)) for bar in view.bars), default=0)
    pools, alive = _by_pool(view.bars), _by_pool(view.alive)
    costs = monthly_parts([sum(bar.cost for bar in alive.get(pool, ())) for pool in pools])
    for (pool, bars), cost in zip(pools.items(), costs, strict=True):
        nodes = count(len(alive.get(pool, ())), "node")
        yield Text(f"{pool or 'no pool'}: {nodes}, {cost} a month", style="bold")
        yield from grid([(_short(bar.name), bar) for bar in bars], longest, width)


def _by_pool(bars: Iterable[NodeBar]) -> Mapping[str, list[NodeBar]]:
    found: dict[str, list[NodeBar]] = {}
    for bar in bars:
        found.setdefault(bar.pool, []).append(bar)
    return found


def _short(name: str) -> str:
    """Return the last part of a name, which is all that the nodes of a pool do not share."""
    return name.rpartition("-")[2][-_LONGEST_NAME:]


def _feet(view: LiveView, width: int, failure: str) -> Iterator[Text]:
    present = {bar.sign for bar in view.bars} - {Sign.KEPT}
    yield from legend((sign for sign in Sign if sign in present), width)
    yield Text(failure or "q quits", style="bold red" if failure else "bright_black")
