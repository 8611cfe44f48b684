"""Ebb beside the autoscaler, and the autoscaler left alone, on the same clusters in the simulated GKE.

Both gates: the balanced profile takes nodes up to 50 %, optimize-utilization up to 85 %; with the latter the scheduler
packs, too. `50, a minute` is the balanced one with a consolidation delay of a minute instead of ten. Ebb's budgets are
a tenth, its passes a minute apart. Nodes, evictions and money are counted at rest; time is virtual, until the last node
is gone. Under `reaper` the autoscaler deletes empty nodes alone, after a minute; the scheduler packs. `least` is how
few evictions there can be where as many nodes go; the sums say on how many clusters that lets anybody reach the goal.
Every second cluster has nodes of two sizes: there fewer nodes need not be less money.
What the autoscaler evicts itself may find no node, with Ebb beside it or without: that is told.
A result fails only if another pod is left without a node, or nothing comes to rest.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import Any, Final

from infra.local.scenario import Scenario
from tests.bench.beside.least import least_evictions
from tests.bench.beside.runs import Rest, autoscaler_alone, with_ebb
from tests.bench.clusters.generated import BenchCluster, generated
from tests.bench.clusters.scenario import scenario_of
from tests.bench.clusters.workloads import Mix
from tests.bench.reporting import say

MACHINES: Final = (("e2-standard-4",), ("e2-standard-4", "e2-standard-8"))
_GATES: Final[Mapping[str, Mapping[str, Any]]] = {
    "50": {"profile": "BALANCED"},
    "50, a minute": {"profile": "BALANCED", "autoscaler": {"unneeded_time": 60.0}},
    "85": {"profile": "OPTIMIZE_UTILIZATION"},
    "reaper": {"profile": "OPTIMIZE_UTILIZATION", "autoscaler": {"threshold": 0.0, "unneeded_time": 60.0}},
}
_RUNS: Final[Mapping[str, Callable[[Scenario], Rest]]] = {"autoscaler": autoscaler_alone, "Ebb +": with_ebb}
_FILLS: Final = (0.5, 0.55, 0.6, 0.65, 0.7)
_PEER: Final = "autoscaler 85"
_GOAL: Final = 0.8
"""Of the peer's evictions."""


@dataclass(frozen=True)
class Case:
    """One generated cluster."""

    mix: Mix
    nodes: int
    fill: float
    seed: int

    def cluster(self) -> BenchCluster:
        machines = MACHINES[self.seed % len(MACHINES)]
        return generated(self.nodes, self.mix, fill=self.fill, pods_a_node=8, seed=self.seed, machines=machines)

    def __str__(self) -> str:
        return f"{self.mix.value} {self.seed}: {self.nodes} nodes, fill {self.fill:.0%}"


def cases(mix: Mix, count: int) -> list[Case]:
    return [Case(mix, 60 + 10 * (seed % 3), _FILLS[seed % len(_FILLS)], seed) for seed in range(count)]


def measured(case: Case) -> Mapping[str, Rest]:
    """Return what is left of one cluster, by who was at work on it."""
    cluster = case.cluster()
    scenarios = {gate: scenario_of(cluster, **settings) for gate, settings in _GATES.items()}
    return {f"{who} {gate}": run(scenario) for gate, scenario in scenarios.items() for who, run in _RUNS.items()}


def run(*, quick: bool) -> None:
    """Print each cluster and the sums, plain and rich in rules of placement."""
    for mix in (Mix.PLAIN, Mix.RICH):
        drawn = cases(mix, 2 if quick else 10)
        with ProcessPoolExecutor(2, mp_context=get_context("forkserver")) as pool:
            found = list(pool.map(partial(measured), drawn))
        for case, rests in zip(drawn, found, strict=True):
            told = "; ".join(f"{who}: {_told(rest, case)}" for who, rest in rests.items())
            print(f"  {case}: {told}", flush=True)  # noqa: T201
        _sums(mix, found)
        _reachable(mix, drawn, found)
        for case, rests in zip(drawn, found, strict=True):
            check(case, rests)


def _told(rest: Rest, case: Case) -> str:
    least = least_evictions(case.cluster(), case.nodes - rest.nodes)
    own = rest.waiting.by_autoscaler
    pending = f", {own} Pending of those that the autoscaler evicted" if own else ""
    return f"{rest.nodes} nodes, {rest.evictions} evictions (least {least}), {rest.seconds / 60:.0f} min{pending}"


def check(case: Case, rests: Mapping[str, Rest]) -> None:
    """Fail where a run did not come to rest, has fewer evictions than there can be, or left a pod without a node.

    Pods that the autoscaler evicted itself are told, not judged: the run without Ebb may leave them, too.
    """
    for who, rest in rests.items():
        least = least_evictions(case.cluster(), case.nodes - rest.nodes)
        assert rest.evictions >= least, f"{case}: {who} counts {rest.evictions} evictions of {least} or more"
        assert rest.is_rest, f"{case}: {who} does not come to rest"
        assert rest.waiting.by_others == 0, f"{case}: {who} leaves {rest.waiting.by_others} pods without a node"


def _sums(mix: Mix, found: Sequence[Mapping[str, Rest]]) -> None:
    peer = _sum([rests[_PEER] for rests in found])
    for who in found[0]:
        own = _sum([rests[who] for rests in found])
        nodes, evictions, seconds, cost = (mine / its for mine, its in zip(own, peer, strict=True))
        ratios = f"nodes {nodes:.2f}, evictions {evictions:.2f}, time {seconds:.2f}, money {cost:.2f}"
        say(f"{mix.value}, {who}: {own[0]} nodes; against {_PEER}", ratios, "1.00, .80, .33 for Ebb")


def _reachable(mix: Mix, drawn: Sequence[Case], found: Sequence[Mapping[str, Rest]]) -> None:
    """Say on how many clusters anybody could do with so few evictions for as many nodes as the peer's."""
    peers = [rests[_PEER] for rests in found]
    least = [least_evictions(case.cluster(), case.nodes - peer.nodes) for case, peer in zip(drawn, peers, strict=True)]
    within = sum(few <= _GOAL * peer.evictions for few, peer in zip(least, peers, strict=True))
    share = sum(least) / sum(peer.evictions for peer in peers)
    what = f"{mix.value}, fewest evictions for as many nodes; against {_PEER}"
    say(what, f"{share:.2f}; at most {_GOAL:.2f} on {within} of {len(drawn)} clusters", "(told, not bounded)")


def _sum(rests: Sequence[Rest]) -> tuple[float, ...]:
    rows = [(rest.nodes, rest.evictions, rest.seconds, rest.cost) for rest in rests]
    return tuple(map(sum, zip(*rows, strict=True)))
