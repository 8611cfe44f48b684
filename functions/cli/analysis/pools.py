"""A plan by pool: nodes, utilization, cost, how many go or could go, pods without requests, the autoscaler's rule."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from shared.core.cluster.autoscaling import ScaleDownRule
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.resources import CPU, MEMORY, total
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.plan import NodeDecision, Verdict

EMPTY_ONLY: Final = "docs/empty-nodes.md"


def pool_rules(snapshot: Snapshot) -> dict[str, ScaleDownRule]:
    autoscaled = [name for name, pool in snapshot.pools.items() if name and pool.autoscaled]
    rows = {name: [node for node in snapshot.nodes_by_pool.get(name, ()) if not node.outside] for name in autoscaled}
    return {name: _strictest(snapshot, rows[name]) for name in sorted(rows) if rows[name]}


def next_to_ebb(rule: ScaleDownRule) -> str:
    """Return what becomes of nodes that the autoscaler empties itself, and how to have it otherwise."""
    what = "Ebb leaves them to it" if rule.packs else "competes with Ebb"
    return f"{what}; {EMPTY_ONLY} shows how to let it delete only empty ones"


def _strictest(snapshot: Snapshot, nodes: Iterable[Node]) -> ScaleDownRule:
    rules = [snapshot.scale_down(node) for node in nodes]
    by_gate, by_delay = max(rules, key=lambda rule: rule.gate), max(rules, key=lambda rule: rule.unneeded)
    unknown = next((rule for rule in rules if not rule.class_known), by_gate)
    return replace(
        by_gate,
        unneeded=by_delay.unneeded,
        unneeded_by=by_delay.unneeded_by,
        compute_class=unknown.compute_class,
        class_known=unknown.class_known,
    )


@dataclass(frozen=True, slots=True)
class WithoutRequests:
    """How many pods request no CPU and how many no memory, of those that would move with their nodes."""

    pods: int
    cpu: int
    memory: int

    def __str__(self) -> str:
        """Return `16 of 24 pods request no CPU and 12 no memory`; empty if all request both."""
        of = f" of {self.pods:,} pods request"
        cpu, memory = (f"no {what}" if many else "" for many, what in ((self.cpu, "CPU"), (self.memory, "memory")))
        if cpu and memory:
            return f"{self.cpu:,}{of} {cpu} and {self.memory:,} {memory}"
        return f"{self.cpu or self.memory:,}{of} {cpu or memory}" if cpu or memory else ""


def without_requests(pods: Iterable[Pod]) -> WithoutRequests:
    """Count them. Pods of DaemonSets stay with their node, and finished ones use nothing."""
    rows = [dict(pod.requests.amounts) for pod in pods if not pod.spec.stays and not pod.phase.finished]
    return WithoutRequests(len(rows), *(sum(name not in row for row in rows) for name in (CPU, MEMORY)))


GOING: Final = frozenset({Verdict.ORDER, Verdict.WOULD_ORDER})


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """One pool, or all of them where `pool` is None. Money is in micro-dollars per hour, ratios of all its nodes."""

    pool: str | None
    nodes: int
    cpu_ratio: Fraction | None
    memory_ratio: Fraction | None
    cost: int
    verdicts: Mapping[Verdict, int]
    saving: int
    could_go: int
    could_save: int  # Both of the nodes that could go at all; they include those of the orders.
    rest_go: int
    rest_save: int  # Both of the nodes that are gone in steady state.


def pool_summaries(
    decisions: Sequence[NodeDecision], could_go: Collection[str] = (), at_rest: Collection[str] = ()
) -> tuple[PoolSummary, ...]:
    """Return a summary of each pool, by its name; given are the nodes that could go, and those gone in steady state."""
    rows: dict[str, list[NodeDecision]] = {}
    for node in decisions:
        rows.setdefault(node.pool, []).append(node)
    found = (summarize(pool, rows[pool], could_go, at_rest) for pool in sorted(rows))
    return tuple(summary for summary in found if summary.nodes)


def summarize(
    pool: str | None, decisions: Sequence[NodeDecision], could_go: Collection[str] = (), at_rest: Collection[str] = ()
) -> PoolSummary:
    own = [node for node in decisions if not node.outside]
    offered, requested = total(node.allocatable for node in own), total(node.requested for node in own)
    going, rest = ([node for node in own if node.name in names] for names in (could_go, at_rest))
    return PoolSummary(
        pool=pool,
        nodes=len(own),
        cpu_ratio=_ratio(requested.cpu, offered.cpu),
        memory_ratio=_ratio(requested.memory, offered.memory),
        cost=sum(node.cost for node in own),
        verdicts=Counter(node.verdict for node in own),
        saving=sum(node.cost for node in own if node.verdict in GOING),
        could_go=len(going),
        could_save=sum(node.cost for node in going),
        rest_go=len(rest),
        rest_save=sum(node.cost for node in rest),
    )


def _ratio(requested: int, offered: int) -> Fraction | None:
    return Fraction(requested, offered) if offered else None
