"""Instances that restart at once, and claimers as processes of their own."""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from multiprocessing import get_context
from multiprocessing.context import ForkServerContext
from typing import TypeVar
from uuid import uuid4

from functions.planner.main import Tick, tick
from functions.planner.pass_log import PassLog
from functions.planner.plan_pass import PlannerDeps
from shared.adapters.process import system_time
from shared.adapters.sqlite import SqliteState
from shared.core.policy import Budget, Limit, Policy
from shared.ports import Ports, State, drain_key
from tests.builders import CLUSTER, node, order, pod, policy
from tests.functions.fake_ebb import FakeEbb
from tests.races.claimer import PATIENCE, Race, RaceResult, claim, line_up, open_together, state_at

T = TypeVar("T")
_TIMEOUT = 2 * PATIENCE


def run(place: str, claimers: int, limit: int, *, strangers: bool = False) -> list[RaceResult]:
    """Race for `limit` claims and return what each claimer says."""
    race = Race(place, claimers, limit, system_time(), strangers)
    return _at_once([(claim, (race, number)) for number in range(claimers)])


def open_at_once(place: str, count: int) -> list[bool]:
    """Open one state in so many processes at the same moment."""
    return _at_once([(open_together, (place,))] * count)


def _at_once(calls: Sequence[tuple[Callable[..., T], tuple[object, ...]]]) -> list[T]:
    context = _context()
    with ProcessPoolExecutor(len(calls), context, line_up, (context.Barrier(len(calls)),)) as pool:
        waiting = [pool.submit(function, *arguments) for function, arguments in calls]
        return [future.result(_TIMEOUT) for future in waiting]


def in_a_fresh_process(function: Callable[..., T], *arguments: object) -> T:
    """Call a function of a module in a process that has seen nothing before."""
    with ProcessPoolExecutor(1, _context()) as pool:
        return pool.submit(function, *arguments).result(_TIMEOUT)


def _context() -> ForkServerContext:
    """Processes that share nothing with this one: not forked from it, but from a server that only imports."""
    context = get_context("forkserver")
    context.set_forkserver_preload(["tests.races.claimer", "tests.races.restarts", "google.cloud.firestore"])
    return context


NODES = ("n1", "n2", "n3", "n4")


@dataclass(frozen=True)
class Call:
    """Where the state is, what time it is, and what the cluster looks like to this call."""

    place: str
    now: datetime
    """Rules only a state that is a file; a service has its own time."""
    cpu: float = 0.5
    """Requests of the one pod on each node of 4 cores."""
    gone: tuple[str, ...] = ()
    consolidate_after: timedelta = timedelta(0)
    time_gap: timedelta = timedelta(0)
    limit: int = 1

    @property
    def policy(self) -> Policy:
        return policy(
            cluster_wide={"time_gap": self.time_gap},
            consolidate_after=self.consolidate_after,
            budgets=(Budget(Limit(count=self.limit)),),
        )


class ColdEbb(FakeEbb):
    """An installation whose state is real and older than itself."""

    def __init__(self, call: Call) -> None:
        names = [name for name in NODES if name not in call.gone]
        created = call.now - timedelta(days=1)
        pods = (pod(f"p-{name}", on=name, cpu=call.cpu, owner=f"ReplicaSet/r-{name}") for name in names)
        super().__init__(*(node(name, created=created) for name in names), *pods, policy=call.policy)
        self.clock.start = call.now
        self._place = call.place

    @cached_property
    def real_state(self) -> State:
        kind, _, where = self._place.partition(":")
        return SqliteState(where, CLUSTER, self.clock.now) if kind == "sqlite" else state_at(self._place)

    @property
    def ports(self) -> Ports:
        return replace(super().ports, state=self.real_state)


def reasons(call: Call) -> dict[str, str]:
    """Run one pass of the planner and return the word that each node's verdict rests on."""
    fake_ebb = ColdEbb(call)
    tick(PlannerDeps(fake_ebb.ports, fake_ebb.settings, PassLog(everything=True)), Tick(owner=uuid4().hex))
    lines = fake_ebb.log.of("node_decision")
    return {str(line["node"]): str(line["verdict" if line["verdict"] == "order" else "reason"]) for line in lines}


def drain(call: Call, name: str) -> str:
    """Deliver one order and return how the drain stands: its phase, or the word of its refusal."""
    fake_ebb = ColdEbb(call)
    fake_ebb.drain(order(name, order_id=f"order-{name}"))
    record = fake_ebb.real_state.get(drain_key(f"order-{name}")).value
    return "" if record is None else record.why or record.phase.value
