"""What all sections of the report read, and those about nodes: before and after, order of removal, zones."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

from functions.cli.analysis.forecast.scenarios import Scenarios
from functions.cli.output.format import clock, monthly, percent
from functions.cli.plan.view import NodeView, PlanView
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import CPU, MEMORY, total
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.bill import Savings
from shared.core.policy import Policy
from shared.core.reasons import PodBlock


@dataclass(frozen=True)
class ReportInput:
    view: PlanView
    now: Snapshot
    policy: Policy

    @property
    def scenarios(self) -> Scenarios | None:
        return self.view.scenarios.values if self.view.scenarios else None

    @property
    def rest(self) -> Snapshot:
        """The snapshot in steady state; that of now if no steady state is known."""
        return (self.scenarios.left if self.scenarios else None) or self.now

    @cached_property
    def number(self) -> Mapping[str, int]:
        """The place of each node in the plan, by its name: by that other lists name it."""
        return {node.name: number for number, node in enumerate(self.view.nodes)}

    @cached_property
    def places_in_steady_state(self) -> Mapping[str, str]:
        left = self.rest.node_by_name
        return {pod.key: pod.node for pod in self.rest.pods if pod.node in left}

    def workload_of(self, pod: Pod) -> str:
        """Return `namespace/kind/name` of what stands behind a pod; of a pod without a controller its namespace."""
        known = self.now.workloads.get(pod.spec.workload)
        return (known.name if known else "") or pod.spec.workload or f"{pod.spec.namespace}/no controller"

    def moves_from(self, node: str) -> int:
        """Return how many pods of a node are elsewhere in steady state."""
        return sum(self.places_in_steady_state.get(pod.key, node) != node for pod in self.now.pods_by_node[node])


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, Any]:
    """Return a list as JSON: the names of its columns once, then a row each."""
    return {"columns": list(columns), "rows": [list(row) for row in rows]}


_NODE: Final = ("zone", "machine", "spot", "cpu", "memory", "month", "gone", "moves", "verdict", "reason", "when")
_POD: Final = ("name", "workload", "node", "cpu", "memory", "at_rest")
_WORKLOAD: Final = ("name", "goes_with_its_node", "keeps", "month")
_ORDER: Final = ("node", "begins", "by", "moves", "month")
NOWHERE: Final = -1
_MIB: Final = 20
_WITH_ITS_NODE: Final = frozenset({"DaemonSet", "Node"})
"""Kinds of controllers whose pods go with their nodes; a mirror pod's is its node."""


def kept_costs(report_input: ReportInput) -> Mapping[str, list[int]]:
    """Return the cost of each node that a workload keeps, in micro-dollars an hour, by the workload's name."""
    found: dict[str, list[int]] = defaultdict(list)
    for node in report_input.view.nodes:
        blocked = {blocker.object for blocker in node.decision.blockers if isinstance(blocker.reason, PodBlock)}
        pods = (pod for pod in report_input.now.pods_by_node[node.name] if pod.key in blocked)
        for name in {report_input.workload_of(pod) for pod in pods}:
            found[name].append(node.decision.cost)
    return found


def nodes(report_input: ReportInput) -> dict[str, Any]:
    """Return what the plan lacks about each node, in millicores and MiB; `gone`: not there in steady state."""
    return table(_NODE, (_node(report_input, node) for node in report_input.view.nodes))


def _node(report_input: ReportInput, node: NodeView) -> tuple[Any, ...]:
    known, gone = report_input.now.node_by_name[node.name], node.name not in report_input.rest.node_by_name
    offered, moves = known.allocatable, report_input.moves_from(node.name) if gone else 0
    machine = (known.zone, known.machine, known.spot, offered.cpu, offered.memory >> _MIB)
    return (*machine, monthly(node.decision.cost), gone, moves, node.verdict, node.reason, node.when)


def workloads_and_pods(report_input: ReportInput) -> dict[str, Any]:
    """Return both lists; pods name their workload and nodes by place, -1 is none (pending, or gone with its node)."""
    # Pods that have ended ask for nothing any more.
    living = [pod for pod in report_input.now.pods if not pod.phase.finished]
    leaves = {
        report_input.workload_of(pod): pod.spec.owner is not None and pod.spec.owner.kind in _WITH_ITS_NODE
        for pod in living
    }
    kept = kept_costs(report_input)
    rows = ((name, leaves[name], len(kept.get(name, ())), monthly(sum(kept.get(name, ())))) for name in leaves)
    return {
        "workloads": table(_WORKLOAD, rows),
        "pods": table(_POD, _pods(report_input, living, {name: place for place, name in enumerate(leaves)})),
    }


def _pods(report_input: ReportInput, living: list[Pod], workloads: dict[str, int]) -> Iterator[tuple[Any, ...]]:
    number, rest = report_input.number, report_input.places_in_steady_state
    for pod in living:
        places = (workloads[report_input.workload_of(pod)], number.get(pod.node, NOWHERE))
        request, later = pod.requests, number.get(rest.get(pod.key, ""), NOWHERE)
        yield (pod.name, *places, request.cpu, request.memory >> _MIB, later)


def zones(report_input: ReportInput) -> list[dict[str, Any]]:
    now, rest = report_input.now, report_input.rest
    places = sorted({(node.pool, node.zone) for node in now.nodes})
    return [
        {"pool": pool, "zone": zone, **_figures(now, pool, zone, ""), **_figures(rest, pool, zone, "_at_rest")}
        for pool, zone in places
    ]


def _figures(snapshot: Snapshot, pool: str, zone: str, when: str) -> dict[str, Any]:
    own = [node for node in snapshot.nodes_by_pool.get(pool, ()) if node.zone == zone]
    offered = total(node.allocatable for node in own)
    living = (pod for node in own for pod in snapshot.pods_by_node[node.name] if not pod.phase.finished)
    request = total(pod.requests for pod in living)
    shares = {
        name: Fraction(request.get(name), offered.get(name)) if offered.get(name) else None for name in (CPU, MEMORY)
    }
    return {f"nodes{when}": len(own), **{f"{name}{when}": percent(share) for name, share in shares.items()}}


AUTOSCALER: Final = "the autoscaler"
AT_ONCE: Final = "in this pass"


def order(report_input: ReportInput) -> dict[str, Any]:
    """Return a row for each node that goes: this pass's orders, then the others in order; nodes by their place."""
    orders = {order.node: order for order in report_input.view.plan.orders}
    scenarios = report_input.scenarios
    later = [name for name in _by_time(scenarios) if name not in orders] if scenarios else []
    saved = _savings_in_order(report_input, [*orders, *later])
    now = ((name, AT_ONCE, report_input.view.whose, len(order.moves)) for name, order in orders.items())
    then = (_later(report_input, scenarios, name) for name in later) if scenarios else ()
    rows = ((report_input.number[name], *row, monthly(saved[name])) for name, *row in (*now, *then))
    return table(_ORDER, rows)


def _later(report_input: ReportInput, scenarios: Scenarios, name: str) -> tuple[Any, ...]:
    begins, moves = scenarios.begins.get(name), report_input.moves_from(name)
    if begins is None:
        return (name, "-", AUTOSCALER, moves)
    return (name, f"{clock(begins, report_input.view.plan.taken_at)} UTC", report_input.view.whose, moves)


def _savings_in_order(report_input: ReportInput, names: Sequence[str]) -> Mapping[str, int]:
    """Return what each node adds to the saving of those before it, in micro-dollars an hour."""
    now, commitments, prices = report_input.now, report_input.policy.commitments, report_input.view.prices
    if prices is None:
        return dict.fromkeys(names, 0)
    found, savings = {}, Savings.among(now.nodes, (), prices, commitments, now.taken_at)
    for name in names:
        node = now.node_by_name[name]
        found[name], savings = savings.of(node), savings.without([node])
    return found


def _by_time(scenarios: Scenarios) -> list[str]:
    """Return the nodes as they begin; what the autoscaler takes stays behind the node that went before it."""
    latest = datetime.min.replace(tzinfo=UTC)
    rows: list[tuple[datetime, str]] = []
    for name in scenarios.order:
        latest = scenarios.begins.get(name, latest)
        rows.append((latest, name))
    return [name for _, name in sorted(rows, key=lambda row: row[0])]
