"""Ebb beside an autoscaler that only deletes empty nodes, and beside one that competes, on the same clusters.

Both profiles: with balanced the scheduler spreads what is evicted, with optimize-utilization it packs. `reaps` is the
same with all nodes of a ComputeClass of threshold 0 and a delay of a minute. A node that both wanted bore the
autoscaler's announcement before Ebb held it; an order is lost where its node did not go by it; a pod that moved twice
is one that an eviction had made. Minutes are those from an order to the deletion of its node. Time is virtual, until
the last node is gone. A result fails only where a reaper announces an occupied node or evicts, a pod is left without a
node that the autoscaler did not evict itself, or nothing comes to rest.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context
from statistics import median, quantiles
from typing import Any, Final

from infra.local.scaling.client import AGENT
from infra.local.scaling.view import CANDIDATE, CLASS_LABEL
from infra.local.scenario import Scenario
from shared.core.cluster.names import OUR_TAINT
from shared.core.records.drain_record import DrainRecord
from shared.core.records.orders import OrderKind
from tests.bench.beside.comparison import Case
from tests.bench.beside.runs import EbbBeside, Rest, rest_of
from tests.bench.clusters.scenario import scenario_of
from tests.bench.clusters.workloads import Mix

REAPER: Final[dict[str, Any]] = {
    "kind": "ComputeClass",
    "metadata": {"name": "reaper"},
    "spec": {"autoscalingPolicy": {"consolidationThreshold": 0, "consolidationDelayMinutes": 1}},
}
_RUNS: Final = {
    "competes, 50 %, spreads": ("BALANCED", False),
    "reaps, spreads": ("BALANCED", True),
    "competes, 85 %, packs": ("OPTIMIZE_UTILIZATION", False),
    "reaps, packs": ("OPTIMIZE_UTILIZATION", True),
}
_NODES, _FILLS, _ALL = 30, (0.45, 0.55, 0.65), 95


@dataclass(frozen=True)
class Beside:
    """What a run left, and how both got in each other's way."""

    rest: Rest
    by_autoscaler: int
    """Evictions of its own."""
    twice: int
    wanted_by_both: int
    lost: Mapping[str, int]
    """Orders whose node did not go by them, by reason."""
    minutes: tuple[float, ...]
    """From order to deletion, of each node that went by one."""


def reaped(scenario: Scenario) -> Scenario:
    """Return the same with every node of a ComputeClass under which only empty nodes go."""
    pools = [pool.model_copy(update={"labels": {**pool.labels, CLASS_LABEL: "reaper"}}) for pool in scenario.pools]
    return scenario.model_copy(update={"pools": pools, "manifests": [*scenario.manifests, REAPER]})


def measured(case: Case) -> Mapping[str, Beside]:
    cluster = case.cluster()
    found: dict[str, Beside] = {}
    for name, (profile, reaps) in _RUNS.items():
        scenario = scenario_of(cluster, profile=profile)
        found[name] = beside(reaped(scenario) if reaps else scenario)
    return found


def beside(scenario: Scenario) -> Beside:
    """Run both on a scenario until nothing more goes."""
    ebb = EbbBeside(scenario)
    before = {pod["metadata"]["uid"] for pod in ebb.cloud.world.store.all("pods")}
    is_rest = ebb.run()
    record = ebb.cloud.world.record
    evictions = [entry for entry in record.of("eviction") if not entry.get("dry_run")]
    orders = [drain.value for drain in ebb.state.all("drains", DrainRecord).values() if drain.value is not None]
    drains = [order for order in orders if order.order.kind is OrderKind.DRAIN]
    gone = {entry["uid"]: entry["at"] for entry in record.of("change") if _is_deletion(entry)}
    done = [drain for drain in drains if not drain.why and drain.order.node_uid in gone]
    return Beside(
        rest_of(ebb.cloud.world, ebb.begun, is_rest=is_rest),
        sum(eviction["actor"] == AGENT for eviction in evictions),
        sum(eviction["uid"] not in before for eviction in evictions),
        len(_announced(record.of("change"))),
        Counter(drain.why for drain in drains if drain.why),
        tuple((gone[drain.order.node_uid] - _seconds(drain.order.issued_at)) / 60 for drain in done),
    )


def _is_deletion(change: Mapping[str, Any]) -> bool:
    return (change["kind"], change["verb"]) == ("nodes", "delete")


def _announced(changes: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the nodes that bore the autoscaler's announcement when Ebb took them."""
    known: dict[str, tuple[str, ...]] = {}
    found = set[str]()
    for change in changes:
        if change["kind"] == "nodes":
            taints = tuple(taint.partition("=")[0] for taint in change["taints"])
            if OUR_TAINT in taints and CANDIDATE in known.get(change["uid"], ()):
                found.add(change["uid"])
            known[change["uid"]] = () if OUR_TAINT in taints else taints
    return found


def _seconds(time: datetime) -> float:
    return time.astimezone(UTC).timestamp()


def run(*, quick: bool) -> None:
    """Print each cluster, and the sums by who was beside Ebb."""
    for mix in (Mix.PLAIN, Mix.RICH):
        drawn = [Case(mix, _NODES, fill, seed) for seed, fill in enumerate(_FILLS[: 1 if quick else None])]
        with ProcessPoolExecutor(2, mp_context=get_context("forkserver")) as pool:
            found = list(pool.map(partial(measured), drawn))
        for case, runs in zip(drawn, found, strict=True):
            for who, each in runs.items():
                print(f"  {case}, {who}: {_told([each])}", flush=True)  # noqa: T201
                check(case, who, each)
        for who in _RUNS:
            print(f"  {mix.value}, {who}, {len(drawn)} clusters: {_told([each[who] for each in found])}")  # noqa: T201


def _told(runs: Sequence[Beside]) -> str:
    minutes = [minute for run in runs for minute in run.minutes] or [0.0, 0.0]
    lost = sum((Counter(run.lost) for run in runs), Counter[str]())
    slow = quantiles(minutes, n=100)[_ALL - 1] if len(minutes) > 1 else minutes[0]
    evictions = sum(run.rest.evictions for run in runs)
    return (
        f"{sum(run.rest.nodes for run in runs)} nodes, ${sum(run.rest.cost for run in runs) / 1e6:.2f}/h, "
        f"{sum(run.rest.waiting.by_autoscaler for run in runs)} of its own left Pending by the autoscaler, "
        f"{evictions} evictions ({sum(run.by_autoscaler for run in runs)} the autoscaler's, "
        f"{sum(run.twice for run in runs)} of pods moved before), "
        f"{sum(run.wanted_by_both for run in runs)} nodes wanted by both, orders lost {dict(lost) or 'none'}, "
        f"order to deletion {median(minutes):.1f} min ({_ALL} %: {slow:.1f}), "
        f"at rest after {max(run.rest.seconds for run in runs) / 60:.0f} min"
    )


def check(case: Case, who: str, found: Beside) -> None:
    """Fail where it did not come to rest, left a pod without a node, or a reaper did what it must not."""
    assert found.rest.is_rest, f"{case}, {who}: no rest"
    others = found.rest.waiting.by_others
    assert others == 0, f"{case}, {who}: {others} pods without a node"
    if who.startswith("reaps"):
        assert (found.by_autoscaler, found.wanted_by_both) == (0, 0), f"{case}, {who}: it competes"
