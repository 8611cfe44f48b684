"""The day that `ebb simulate` plays, beside the same day on the simulated GKE, with Ebb or without."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final

import msgspec
import pytest

from functions.cli.analysis.simulated_days.measures import PlayedTotals
from functions.cli.analysis.simulated_days.patterns import Curve, ReplicaChange, by_curve, swinging
from functions.cli.analysis.simulated_days.run import Days, simulate
from functions.cli.analysis.simulated_days.world import Delays
from infra.local.scenario import Scenario
from shared.adapters.kubernetes import node_objects, wire
from shared.adapters.prices import load
from shared.core.cluster.snapshot import Snapshot
from shared.core.policy import Policy
from shared.core.policy.parsing import parse
from shared.ports import PoolsReading
from shared.store.snapshots import snapshot_of
from tests.bench.beside.runs import EbbBeside, reaped
from tests.bench.clusters.generated import generated
from tests.bench.clusters.scenario import scenario_of
from tests.bench.clusters.workloads import Mix
from tests.depth import cases, first_of
from tests.faults.ports import moment

_node = msgspec.json.Decoder(wire.Node)


@dataclass(frozen=True)
class TrueDay:
    """What a day on the simulated GKE came to."""

    series: Sequence[tuple[float, int, int]]
    """From which second on there were how many nodes, at which micro-dollars an hour."""
    lasts: float
    evictions: int
    pending: float

    @property
    def mean_nodes(self) -> float:
        return sum(nodes * seconds for nodes, _, seconds in self._stretches()) / self.lasts

    @property
    def cost(self) -> float:
        return sum(cost * seconds / 3600 for _, cost, seconds in self._stretches())

    def nodes_at(self, second: float) -> int:
        return [nodes for at, nodes, _ in self.series if at <= second][-1]

    def _stretches(self) -> Iterator[tuple[int, int, float]]:
        ends = [*(at for at, _, _ in self.series[1:]), self.lasts]
        for (at, nodes, cost), until in zip(self.series, ends, strict=True):
            yield nodes, cost, until - at


class DayOnGke(EbbBeside):
    """One world, its demand, and Ebb if it has a policy."""

    def __init__(self, scenario: Scenario, rules: str, interval: float) -> None:
        super().__init__(scenario, rules or "nodePools:\n", interval)
        if not rules:
            self._next_tick = float("inf")
        self._samples: list[tuple[float, int, int]] = []
        self._prices = load()
        self._waited = 0.0
        self._looked: tuple[int, float] = (-1, 0.0)

    def picture(self) -> Snapshot:
        """Return the cluster as a pass would see it."""
        found: list[Snapshot] = []

        def read() -> None:
            reading = self.ports.cluster.read()
            pools = PoolsReading(self.pools.pools, known=True)
            now = moment(self.clock)
            found.append(snapshot_of(self.setting.scenario.cluster, reading, pools, now, now))

        self.threads.start(self._actor("tick-picture"), read)
        self.threads.run()
        return found[0]

    def live_through(self, changes: Sequence[ReplicaChange], lasts: timedelta) -> TrueDay:
        self._sample()
        for at, rows in groupby(changes, key=lambda wish: wish.at):
            self._live_until(at)
            for wish in rows:
                self._scale(wish)
        self._live_until(datetime.fromtimestamp(self.begun, at.tzinfo) + lasts)
        evictions = sum(not entry.get("dry_run") for entry in self.cloud.world.record.of("eviction"))
        self.threads.dismiss()
        return TrueDay(self._samples, lasts.total_seconds(), evictions, self._waited)

    def _live_until(self, at: datetime) -> None:
        while self.clock.now() < at.timestamp():
            before = self.clock.now()
            waiting = sum(not pod["spec"].get("nodeName") for pod in self.cloud.world.store.all("pods"))
            self._step(at.timestamp())
            self._waited += waiting * (self.clock.now() - before)
            self._sample()

    def _scale(self, wish: ReplicaChange) -> None:
        namespace, _, name = wish.controller.split("/")
        store = self.cloud.world.store
        owner = next(owned for owned in store.all("replicasets") if owned["metadata"]["name"] == name)
        deployment = owner["metadata"]["ownerReferences"][0]["name"]
        found = store.get("deployments", namespace, deployment)
        store.update(found, lambda thing: thing["spec"].update(replicas=wish.replicas), "autoscaling")

    def _world(self) -> None:
        """As ever, but that the autoscaler need not look again and again at what has not changed."""
        version, now = self.cloud.world.store.version("nodes", "pods"), self.clock.now()
        if self._looked[0] != version:
            self._looked = version, now
        assert self.autoscaler is not None
        idle, still = self.autoscaler.is_idle(), now - self._looked[1] > self.autoscaler.rechecks_within
        if idle and still:
            if self.cloud.world.store.revision != self._seen or self.is_lively():
                self._seen = self.cloud.world.store.revision
                self.cloud.world.step()
            return
        super()._world()

    def _sample(self) -> None:
        nodes = self.cloud.world.store.all("nodes")
        cost = sum(
            self._prices.of(node_objects.node(_node.decode(msgspec.json.encode(node)))).per_hour for node in nodes
        )
        row = self.passed, len(nodes), cost
        if not self._samples or self._samples[-1][1:] != row[1:]:
            self._samples.append(row)


DAY: Final = timedelta(days=1)
INTERVAL: Final = 300.0
SECOND: Final = timedelta(seconds=1)
DELAYS: Final = Delays(boot=20 * SECOND, ready=4 * SECOND, longest_end=2 * SECOND)
"""Those of the simulated GKE."""
NOBODY: Final = ""
EBB: Final = """\
dryRun: false
cluster: {timeSinceLastAddition: 0s}
defaults: {minimumNodeAge: 0s, excessNodesThreshold: 0, scaleDownRequiredUnderutilizedNodeCount: 1}
nodePools:
"""
NODES, SHARE = 1.0, 0.03
THROWS: Final = 5
"""Of the dice of the model's autoscaler: which of ten nodes goes first decides some percent of a bill."""


@dataclass(frozen=True)
class Case:
    seed: int
    night: int
    profile: str = "BALANCED"
    mix: Mix = Mix.PLAIN
    reaps: bool = False
    """Whether the autoscaler only deletes empty nodes, by their ComputeClass."""

    def played(self, rules: str) -> tuple[TrueDay, Sequence[PlayedTotals]]:
        """Return the day on the simulated GKE, whose autoscaler throws no dice, and the simulated ones by throw."""
        machines = ("e2-standard-4", "e2-standard-8")
        cluster = generated(10, self.mix, fill=0.7, pods_a_node=6, seed=self.seed, machines=machines)
        scenario = scenario_of(cluster, profile=self.profile)
        gke = DayOnGke(reaped(scenario) if self.reaps else scenario, rules, INTERVAL)
        picture = replace(gke.picture(), profile=self.profile)
        demand = by_curve(swinging(picture, self.night), Curve(), picture.taken_at, DAY)
        policy = _policy(rules, picture) if rules else None
        days = Days(picture, load(), demand, DAY, DELAYS)
        told = [simulate(replace(days, throw=throw), policy) for throw in range(THROWS)]
        return gke.live_through(demand, DAY), told


def _policy(rules: str, picture: Snapshot) -> Policy:
    pools = "".join(f'  "{pool}": {{enabled: true}}\n' for pool in picture.nodes_by_pool)
    return parse(f"{rules}{pools}".encode())


CASES: Final = [
    pytest.param(case, id=f"{case.mix.value} {case.seed} {case.profile}")
    for case in (
        Case(3, 70, "OPTIMIZE_UTILIZATION"),
        Case(1, 50),
        Case(4, 60, mix=Mix.RICH),
        Case(6, 40, mix=Mix.RICH),
        Case(8, 60, mix=Mix.RICH),
        Case(9, 60),
        Case(12, 50, reaps=True),
        Case(7, 50, "OPTIMIZE_UTILIZATION"),
    )
]
LUCK: Final = [pytest.param(Case(2, 60), id="plain"), pytest.param(Case(10, 50, mix=Mix.RICH), id="rich")]
A_NODE: Final = 0.08
"""Of the bill of ten nodes."""


@cases("rules", ("alone", NOBODY), ("with Ebb", EBB))
@pytest.mark.parametrize("case", first_of(1, CASES))
def test_a_simulated_day_is_that_of_the_cluster(case: Case, rules: str) -> None:
    true, told = case.played(rules)

    assert any(is_within(SHARE, totals, true) for totals in told), [totals.cost / true.cost for totals in told]


@cases("rules", ("alone", NOBODY), ("with Ebb", EBB))
@pytest.mark.parametrize("case", first_of(0, LUCK))
def test_luck_costs_a_node_at_most(case: Case, rules: str) -> None:
    true, told = case.played(rules)

    assert all(is_within(A_NODE, totals, true) for totals in told), [totals.cost / true.cost for totals in told]


def is_within(share: float, told: PlayedTotals, true: TrueDay) -> bool:
    near = abs(told.mean_nodes - true.mean_nodes) <= NODES and abs(told.end_nodes - true.series[-1][1]) <= NODES
    return near and abs(told.cost - true.cost) <= share * true.cost
