"""One call of a function in a process of its own, as a cold start would make it: only the state is left of before."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from uuid import uuid4

from functions.planner.main import Tick, tick
from functions.planner.pass_log import PassLog
from functions.planner.plan_pass import PlannerDeps
from shared.adapters.sqlite import SqliteState
from shared.core.policy import Budget, Limit, Policy
from shared.port_types import drain_key
from shared.ports import Ports, State
from tests.builders import CLUSTER, node, order, pod, policy
from tests.functions.fake_ebb import FakeEbb
from tests.races.claimer import state_at

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
