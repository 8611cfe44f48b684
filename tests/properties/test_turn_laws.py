"""Drains at once, of nodes that share a workload without a PodDisruptionBudget: never more replicas away than may be.

They claim, look and let pods go at any second. A status is late by up to the lag that is assumed, a slow look is up to
five seconds old; a replica that is let go is away at once and back when the history says so.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import Workload
from shared.core.draining.drain import Observation
from shared.core.draining.evicting import STATUS_LAG, counted_at, due_now
from shared.core.policy import Limit
from shared.core.records.drain_record import DrainPhase, DrainRecord, PodProgress
from shared.core.records.state import Claim
from shared.core.rules.drain_context import DrainContext
from shared.core.rules.workload_limits import all_moving_pods, conflict, moving_pods, other_claims, workload_moves
from tests.builders import NOW, claim, node, order, pod, pod_class, policy

WEB = pod_class(owner="ReplicaSet/web")
NAME = "default/Deployment/web"
SLOW_LOOK = timedelta(seconds=5)
DRAINS = 4


@dataclass
class World:
    """One workload, its replicas on the nodes, and the drains of those nodes."""

    replicas: int
    limit: Limit
    on: dict[str, list[Pod]]
    now: datetime = NOW
    away: int = 0
    history: list[tuple[datetime, int]] = field(default_factory=lambda: [(NOW - timedelta(hours=1), 0)])
    claims: dict[str, Claim] = field(default_factory=dict)
    records: dict[str, DrainRecord] = field(default_factory=dict)
    looks: dict[str, Observation] = field(default_factory=dict)

    @property
    def most(self) -> int:
        return Workload(NAME, self.replicas).may_be_away(self.limit)

    def status(self, lag: int) -> Workload:
        """Return the workload as its status said some seconds ago."""
        at = self.now - timedelta(seconds=lag)
        seen = [away for when, away in self.history if when <= at][-1]
        return Workload(NAME, self.replicas, self.replicas - seen)

    def set_away(self, away: int) -> None:
        self.away = away
        self.history.append((self.now, away))

    def claim(self, name: str, lag: int) -> None:
        """Ask for a claim: one compare-and-set on all claims, on reads that may be up to a minute old."""
        settings = policy(unprotected=self.limit).pool("a")
        context = DrainContext((), settings, self.now, {WEB.workload: self.status(15 * lag)})
        wanted = workload_moves(self.on[name], context)
        if name in self.records or conflict(wanted, all_moving_pods(self.claims.values())) is not None:
            return
        self.claims[name] = claim(name, moving_pods=moving_pods(wanted), since=self.now)
        self.records[name] = DrainRecord(order=order(name), phase=DrainPhase.CORDONED)

    def step(self, name: str, lag: int) -> None:
        """Let one drain look, and let go whose turn it is."""
        if name not in self.claims:
            return
        scene = self._look(name, lag)
        record = self.records[name]
        due = due_now(record, scene, self.limit, self.now)
        rows = {row.key: PodProgress(uid=row.uid, answer="granted", owner=WEB.workload, at=self.now) for row in due}
        self.records[name] = DrainRecord(order=record.order, phase=record.phase, pods={**record.pods, **rows})
        self.on[name] = [row for row in self.on[name] if row.key not in rows]
        self.set_away(self.away + len(due))

    def _look(self, name: str, lag: int) -> Observation:
        slow = self.looks.get(name)
        if slow is None or slow.workloads_at is None or self.now - slow.workloads_at >= SLOW_LOOK:
            seen, others = {WEB.workload: self.status(lag)}, other_claims(self.claims, name)
            slow = Observation(node(name), self.claims[name], (), (), seen, self.now, others)
            self.looks[name] = slow
        return Observation(
            slow.node, slow.claim, tuple(self.on[name]), (), slow.workloads, slow.workloads_at, slow.other_claims
        )

    def end(self, name: str) -> None:
        """Take the moving pods off the claim, once what was let go is seen."""
        seen = counted_at(self.records[name]) if name in self.claims else None
        if name in self.claims and (seen is None or self.now >= seen):
            del self.claims[name]


def worlds(replicas: int, limit: Limit, spread: list[int]) -> World:
    names = [f"n{index}" for index in range(DRAINS)]
    rows: dict[str, list[Pod]] = {name: [] for name in names}
    for index in range(replicas):
        name = names[spread[index % len(spread)]]
        rows[name].append(pod(f"p{index}", on=name, kind=WEB))
    return World(replicas, limit, rows)


limits = st.one_of(
    st.integers(0, 100).map(lambda percent: Limit(percent=percent)),
    st.integers(0, 6).map(lambda count: Limit(count=count)),
)
acts = st.tuples(
    st.sampled_from(["claim", "step", "step", "step", "end", "back"]),
    st.integers(0, DRAINS - 1),
    st.integers(0, int(STATUS_LAG.total_seconds()) - 1),
    st.sampled_from([0, 0, 1, 6]),
)


@given(
    replicas=st.integers(2, 12),
    limit=limits,
    spread=st.lists(st.integers(0, DRAINS - 1), min_size=1, max_size=6),
    history=st.lists(acts, min_size=8, max_size=60),
)
def test_drains_at_once_never_have_more_replicas_away_than_may_be(
    replicas: int, limit: Limit, spread: list[int], history: list[tuple[str, int, int, int]]
) -> None:
    world = worlds(replicas, limit, spread)
    for act, number, lag, seconds in history:
        world.now += timedelta(seconds=seconds)
        name = f"n{number}"
        if act == "back":
            world.set_away(max(world.away - 1, 0))
        elif act == "end":
            world.end(name)
        else:
            {"claim": world.claim, "step": world.step}[act](name, lag)
        assert world.away <= world.most
        assert world.away < replicas
