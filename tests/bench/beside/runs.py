"""One cluster left to the autoscaler, and the same one with Ebb beside it, each until nothing more goes; virtual time.

Ebb is the production planner and drainer on the simulated GKE, called every minute. The autoscaler proves one packing,
and the scheduler chooses another: a pod that the autoscaler evicts may find no node whatever runs next to it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from infra.local.clocks import ManualClock
from infra.local.scaling.client import AGENT
from infra.local.scaling.view import CLASS_LABEL
from infra.local.scenario import Scenario
from infra.local.simulated_gke import SimulatedGke, World, run_until_rest
from infra.local.world.kinds import Json
from infra.local.world.pods import node_of
from shared.adapters.kubernetes import node_objects, wire
from shared.adapters.prices import load
from shared.core.cluster.node import NodePool
from tests.faults.call_faults import ClockSkew, MessageFaults
from tests.faults.installation import Installation
from tests.faults.worlds import TOPIC, Limits, Setting

REAPER: Final[dict[str, Any]] = {
    "kind": "ComputeClass",
    "metadata": {"name": "reaper"},
    "spec": {"autoscalingPolicy": {"consolidationThreshold": 0, "consolidationDelayMinutes": 1}},
}
INTERVAL: Final = 60.0
LONGEST: Final = 6 * 3600.0
_STEP: Final = 10.0
POLICY: Final = """\
dryRun: false
cluster:
  minimumNodes: 1
  minimumNonTaintedNodes: 1
  timeSinceLastAddition: 0s
  timeGap: 0s
  rate: {nodes: 100%, per: 1m}
  disruption: {budgets: [{nodes: 10%}]}
defaults:
  scaleDownCPURequestRatioLimit: 1
  scaleDownMemoryRequestRatioLimit: 1
  scaleDownRequiredUnderutilizedNodeCount: 1
  excessNodesThreshold: 0
  minimumNodeAge: 0s
  maxNodesPerPass: 100
  disruption: {consolidateAfter: 1m, budgets: [{nodes: 10%}]}
nodePools:
"""


def reaped(scenario: Scenario) -> Scenario:
    """Return the same with every node of a ComputeClass under which only empty nodes go."""
    pools = [pool.model_copy(update={"labels": {**pool.labels, CLASS_LABEL: "reaper"}}) for pool in scenario.pools]
    return scenario.model_copy(update={"pools": pools, "manifests": [*scenario.manifests, REAPER]})


@dataclass(frozen=True)
class Waiting:
    """Pods without a node."""

    by_autoscaler: int
    """Created anew for what it evicted."""
    by_others: int
    """All the rest: for what Ebb evicted, or for what nobody did."""


@dataclass(frozen=True)
class Rest:
    """What is left when nothing more goes, and what it took."""

    nodes: int
    evictions: int
    seconds: float
    """Until the last node was gone."""
    cost: int
    """Of the nodes that are left, in micro-dollars per hour."""
    waiting: Waiting
    """Pods without a node at the end."""
    is_rest: bool


@dataclass(frozen=True)
class OpenLimits(Limits):
    """The policy is `rules` for all pools, whatever the numbers are; of `POLICY` no limits but budgets of a tenth."""

    pools: tuple[str, ...] = ()
    rules: str = POLICY

    def text(self, **changes: bool) -> str:
        del changes
        return self.rules + "".join(f'  "{pool}": {{enabled: true}}\n' for pool in self.pools)


def autoscaler_alone(scenario: Scenario) -> Rest:
    clock = ManualClock()
    cloud = SimulatedGke(scenario, clock)
    cloud.world.settle()
    begun = clock.now()
    left = run_until_rest(cloud.world, cloud.autoscaler(), clock, LONGEST)
    return rest_of(cloud.world, begun, is_rest=left.is_rest)


def with_ebb(scenario: Scenario, rules: str = POLICY, interval: float = INTERVAL) -> Rest:
    """Run Ebb and the scenario's autoscaler side by side; `rules` is the policy up to its pools, which are enabled."""
    ebb = EbbBeside(scenario, rules, interval)
    is_rest = ebb.run()
    return rest_of(ebb.cloud.world, ebb.begun, is_rest=is_rest)


class EbbBeside(Installation):
    """Ebb on a scenario of any pools, without faults."""

    def __init__(self, scenario: Scenario, rules: str = POLICY, interval: float = INTERVAL) -> None:
        pools = tuple(pool.name for pool in scenario.pools)
        limits = OpenLimits(interval=interval, pools=pools, rules=rules)
        setting = Setting("beside", scenario.model_copy(update={"topics": [TOPIC]}), limits)
        super().__init__(setting, 0, {}, MessageFaults(), ClockSkew())
        self.pools.pools = self._pools(scenario)
        self.pools.profile = scenario.profile
        self.call_gate.most_calls = 10_000_000

    def run(self) -> bool:
        """Let time pass until nothing changes; False if that took too long."""
        store = self.cloud.world.store
        seen, since = -1, self.clock.now()
        while not (rests := self._rests(since)) and self.passed < LONGEST:
            self.live(_STEP)
            if store.version("nodes", "pods") != seen:
                seen, since = store.version("nodes", "pods"), self.clock.now()
        self.threads.dismiss()
        return rests

    def _rests(self, since: float) -> bool:
        assert self.autoscaler is not None
        still = max(self.autoscaler.rechecks_within, 3 * self.setting.limits.interval)
        quiet = self.autoscaler.is_idle() and not self.is_busy() and not self.remembered().claims
        return quiet and self.clock.now() - since > still

    @staticmethod
    def _pools(scenario: Scenario) -> Mapping[str, NodePool]:
        return {spec.name: NodePool(spec.name, min_per_zone=spec.autoscaling.min_node_count) for spec in scenario.pools}


def rest_of(world: World, begun: float, *, is_rest: bool) -> Rest:
    """Return what is left now of a world that was left to itself at `begun`."""
    nodes = [node_objects.node(_node.decode(msgspec.json.encode(node))) for node in world.store.all("nodes")]
    gone = [entry["at"] for entry in world.record.of("change") if (entry["kind"], entry["verb"]) == ("nodes", "delete")]
    cost = sum(load().of(node).per_hour for node in nodes)
    evictions = sum(not entry.get("dry_run") for entry in world.record.of("eviction"))
    return Rest(len(nodes), evictions, max(gone, default=begun) - begun, cost, waiting_in(world), is_rest)


_node: Final = msgspec.json.Decoder(wire.Node)


def waiting_in(world: World) -> Waiting:
    """Return how many pods have no node; the autoscaler's are only those that nobody else can have made."""
    found = [pod for pod in world.store.all("pods") if not node_of(pod)]
    own = sum(_is_autoscalers(pod, world.record.of("change"), world.record.of("eviction")) for pod in found)
    return Waiting(own, len(found) - own)


def _is_autoscalers(pod: Json, changes: Sequence[Json], evictions: Iterable[Json]) -> bool:
    """Whether the last evictions of pods of the same owner, before this one came, were all the autoscaler's."""
    mine = [change for change in changes if change["kind"] == "pods" and change["uid"] == pod["metadata"]["uid"]]
    created, owner = mine[0]["at"], mine[0]["owner"]
    siblings = {change["uid"] for change in changes if change["kind"] == "pods" and owner and change["owner"] == owner}
    earlier = [
        eviction
        for eviction in evictions
        if eviction["uid"] in siblings and _counts(eviction) and eviction["at"] <= created
    ]
    last = max((eviction["at"] for eviction in earlier), default=0.0)
    return {eviction["actor"] for eviction in earlier if eviction["at"] == last} == {AGENT}


def _counts(eviction: dict[str, Any]) -> bool:
    return not eviction.get("dry_run")
