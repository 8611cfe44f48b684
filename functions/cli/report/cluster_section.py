"""The report's sections about nodes: before and after, order of removal, zones, how full nodes are."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, Final

from functions.cli.analysis.forecast.scenarios import Scenarios
from functions.cli.output.format import clock, monthly, percent
from functions.cli.plan.view import NodeView
from functions.cli.report.report_input import ReportInput, table
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import CPU, MEMORY, total
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.bill import Savings
from shared.core.planning.plan import PlannedOrder
from shared.core.reasons import PodBlock
from shared.core.rules.utilization import Usage, usage


@dataclass(frozen=True, slots=True)
class KeptNodes:
    """How many nodes, and their cost in micro-dollars an hour."""

    nodes: int = 0
    cost: int = 0

    def and_one_of(self, cost: int) -> "KeptNodes":
        return KeptNodes(self.nodes + 1, self.cost + cost)


def kept_by(report_input: ReportInput) -> Mapping[str, KeptNodes]:
    """Return what each workload keeps that keeps anything, by its name."""
    found: dict[str, KeptNodes] = {}
    for node in report_input.view.nodes:
        named = {each.object for each in node.decision.blockers if isinstance(each.reason, PodBlock)}
        pods = (pod for pod in report_input.now.pods_by_node[node.name] if pod.key in named)
        for name in {report_input.workload_of(pod) for pod in pods}:
            found[name] = found.get(name, KeptNodes()).and_one_of(node.decision.cost)
    return found


NODE_COLUMNS: Final = (
    "zone",
    "machine",
    "spot",
    "cpu",
    "memory",
    "month",
    "gone",
    "moves",
    "verdict",
    "reason",
    "when",
)
POD_COLUMNS: Final = ("name", "workload", "node", "cpu", "memory", "at_rest")
WORKLOAD_COLUMNS: Final = ("name", "goes_with_its_node", "keeps", "month")
NOWHERE: Final = -1
_MIB: Final = 20
_WITH_ITS_NODE: Final = frozenset({"DaemonSet", "Node"})
"""Kinds of controllers whose pods go with their nodes; a mirror pod's is its node."""


def nodes(report_input: ReportInput) -> dict[str, Any]:
    """Return what the plan lacks about each node, in millicores and MiB; `gone`: not there in steady state."""
    return table(NODE_COLUMNS, (_node(report_input, each) for each in report_input.view.nodes))


def workloads_and_pods(report_input: ReportInput) -> dict[str, Any]:
    """Return both lists; pods name their workload and nodes by place, -1 is nowhere (pending, or gone with its node).

    Pods that have ended ask for nothing any more and are left out.
    """
    living = [pod for pod in report_input.now.pods if not pod.phase.finished]
    found: dict[str, int] = {}
    kinds: dict[str, bool] = {}
    for pod in living:
        name = report_input.workload_of(pod)
        found.setdefault(name, len(found))
        kinds[name] = bool(pod.spec.owner and pod.spec.owner.kind in _WITH_ITS_NODE)
    kept = kept_by(report_input)
    rows = ((name, kinds[name], kept.get(name, KeptNodes())) for name in found)
    return {
        "workloads": table(WORKLOAD_COLUMNS, ((*own, its.nodes, monthly(its.cost)) for *own, its in rows)),
        "pods": table(POD_COLUMNS, _pods(report_input, living, found)),
    }


def _node(report_input: ReportInput, node: NodeView) -> tuple[Any, ...]:
    known = report_input.now.node_by_name[node.name]
    gone = node.name not in report_input.rest.node_by_name
    return (
        known.zone,
        known.machine,
        known.spot,
        known.allocatable.cpu,
        known.allocatable.memory >> _MIB,
        monthly(node.decision.cost),
        gone,
        report_input.moves_from(node.name) if gone else 0,
        node.verdict,
        node.reason,
        node.when,
    )


def _pods(report_input: ReportInput, living: list[Pod], workloads: dict[str, int]) -> Iterator[tuple[Any, ...]]:
    at, rest = report_input.number, report_input.places_in_steady_state
    for pod in living:
        request = pod.requests
        yield (
            pod.name,
            workloads[report_input.workload_of(pod)],
            at.get(pod.node, NOWHERE),
            request.cpu,
            request.memory >> _MIB,
            at.get(rest.get(pod.key, ""), NOWHERE),
        )


ZoneOfPool = tuple[str, str]
"""A pool and a zone."""


def zones(report_input: ReportInput) -> list[dict[str, Any]]:
    """Return a row for each zone of each pool."""
    now, rest = _by_place(report_input.now), _by_place(report_input.rest)
    return [
        {
            "pool": pool,
            "zone": zone,
            **_figures(report_input.now, now[pool, zone], ""),
            **_figures(report_input.rest, rest.get((pool, zone), ()), "_at_rest"),
        }
        for pool, zone in sorted(now)
    ]


def _by_place(snapshot: Snapshot) -> Mapping[ZoneOfPool, Collection[Node]]:
    found: dict[ZoneOfPool, list[Node]] = {}
    for node in snapshot.nodes:
        found.setdefault((node.pool, node.zone), []).append(node)
    return found


def _figures(snapshot: Snapshot, own: Collection[Node], when: str) -> dict[str, Any]:
    offered = total(node.allocatable for node in own)
    living = (pod for node in own for pod in snapshot.pods_by_node[node.name] if not pod.phase.finished)
    request = total(pod.requests for pod in living)
    shares = {name: _share(request.get(name), offered.get(name)) for name in (CPU, MEMORY)}
    return {f"nodes{when}": len(own), **{f"{name}{when}": percent(share) for name, share in shares.items()}}


def _share(request: int, offered: int) -> Fraction | None:
    return Fraction(request, offered) if offered else None


COLUMNS: Final = ("node", "begins", "by", "moves", "month")
AUTOSCALER: Final = "the autoscaler"
AT_ONCE: Final = "in this pass"


def order(report_input: ReportInput) -> dict[str, Any]:
    """Return a row for each node that goes: this pass's orders, then the others in order; nodes by their place."""
    ordered = {each.node for each in report_input.view.orders}
    later = [name for name in _by_time(report_input.scenarios) if name not in ordered] if report_input.scenarios else []
    saved = _saved(report_input, [*(each.node for each in report_input.view.orders), *later])
    return table(
        COLUMNS,
        (
            *(_ordered(report_input, each, saved[each.node]) for each in report_input.view.orders),
            *(_later(report_input, name, saved[name]) for name in later),
        ),
    )


def _saved(report_input: ReportInput, names: Sequence[str]) -> Mapping[str, int]:
    """Return what each node adds to the saving of those before it, in micro-dollars an hour."""
    now, commitments, prices = report_input.now, report_input.policy.commitments, report_input.view.prices
    if prices is None:
        return dict.fromkeys(names, 0)
    found, savings = {}, Savings.among(now.nodes, (), prices, commitments, now.taken_at)
    for name in names:
        node = now.node_by_name[name]
        found[name], savings = savings.of(node), savings.without([node])
    return found


def _ordered(report_input: ReportInput, order: PlannedOrder, saved: int) -> tuple[Any, ...]:
    return (report_input.number[order.node], AT_ONCE, report_input.whose, len(order.moves), monthly(saved))


def _later(report_input: ReportInput, name: str, saved: int) -> tuple[Any, ...]:
    number, scenarios = report_input.number[name], report_input.scenarios
    begins = scenarios.begins.get(name) if scenarios else None
    time = f"{clock(begins, report_input.view.taken_at)} UTC" if begins else "-"
    return (number, time, report_input.whose if begins else AUTOSCALER, report_input.moves_from(name), monthly(saved))


def _by_time(scenarios: Scenarios) -> list[str]:
    """Return the nodes as they begin; what the autoscaler takes stays behind the node that went before it."""
    latest = datetime.min.replace(tzinfo=UTC)
    rows: list[tuple[datetime, str]] = []
    for name in scenarios.order:
        latest = scenarios.begins.get(name, latest)
        rows.append((latest, name))
    return [name for _, name in sorted(rows, key=lambda row: row[0])]


TENTHS: Final = 10
_SHARES: Final[dict[str, Callable[[Usage], Fraction]]] = {
    "CPU": lambda used: used.cpu,
    "memory": lambda used: used.memory,
}


def fill(report_input: ReportInput) -> list[dict[str, Any]]:
    """Return for CPU and memory how many nodes lie in each tenth; the last one counts what is full, and fuller."""
    now, rest = tuple(_usages(report_input.now)), tuple(_usages(report_input.rest))
    found = []
    for resource, share in _SHARES.items():
        before, after = (Counter(_tenth(share(each)) for each in rows) for rows in (now, rest))
        bins = [_bin(number, before[number], after[number]) for number in range(TENTHS)]
        found.append({"resource": resource, "bins": bins})
    return found


def _usages(snapshot: Snapshot) -> Iterator[Usage]:
    for node in snapshot.nodes:
        used = usage(node, snapshot.pods_by_node[node.name])
        if used is not None:
            yield used


def _tenth(share: Fraction) -> int:
    return min(int(share * TENTHS), TENTHS - 1)


def _bin(number: int, now: int, rest: int) -> dict[str, Any]:
    return {"share": f"{number * 10} to {(number + 1) * 10}%", "now": now, "at_rest": rest}
