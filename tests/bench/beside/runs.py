"""One cluster left to the autoscaler, and the same one with the real Ebb next to it, until nothing more goes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from infra.local.clocks import ManualClock
from infra.local.scaling.view import CLASS_LABEL
from infra.local.scenario import Scenario
from infra.local.simulated_gke import SimulatedGke, World, run_until_rest
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
class Rest:
    nodes: int
    evictions: int
    cost: int
    """Of the nodes that are left, in micro-dollars per hour."""
    waiting: int
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
    left = run_until_rest(cloud.world, cloud.autoscaler(), clock, LONGEST)
    return rest_of(cloud.world, is_rest=left.is_rest)


def with_ebb(scenario: Scenario, rules: str = POLICY, interval: float = INTERVAL) -> Rest:
    """Run Ebb and the scenario's autoscaler side by side; `rules` is the policy up to its pools, which are enabled."""
    ebb = EbbBeside(scenario, rules, interval)
    is_rest = ebb.run()
    return rest_of(ebb.cloud.world, is_rest=is_rest)


class EbbBeside(Installation):
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


def rest_of(world: World, *, is_rest: bool) -> Rest:
    nodes = [node_objects.node(_node.decode(msgspec.json.encode(node))) for node in world.store.all("nodes")]
    cost = sum(load().of(node).per_hour for node in nodes)
    evictions = sum(not entry.get("dry_run") for entry in world.record.of("eviction"))
    waiting = sum(not node_of(pod) for pod in world.store.all("pods"))
    return Rest(len(nodes), evictions, cost, waiting, is_rest)


_node: Final = msgspec.json.Decoder(wire.Node)
