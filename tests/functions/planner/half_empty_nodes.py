"""A little cluster for the tests of the planner, alone and with the drainer."""

from datetime import timedelta
from typing import Any

from functions.drainer.main import PushReply
from shared.core.records.orders import OrderKind
from shared.core.records.state import Mark, PoolMarks
from shared.ports import pool_key
from tests.builders import node, pod
from tests.functions.fake_ebb import FakeEbb

MINUTE = timedelta(minutes=1)


def fake_ebb(**changes: Any) -> FakeEbb:
    """Two half-empty nodes and one that can take their pods."""
    pods = [pod(f"p{index}", on=f"n{index}", cpu=1, owner=f"ReplicaSet/r{index}") for index in (1, 2, 3)]
    return FakeEbb(node("n1"), node("n2"), node("n3"), *pods, **changes)


def marks(ebb: FakeEbb) -> dict[str, Mark]:
    found = ebb.state.get(pool_key("a")).value or PoolMarks()
    return found.marks


def drained(ebb: FakeEbb) -> list[str]:
    return [one.name for one in ebb.cluster.nodes.values() if one.drain_taint and not ebb.cluster.pods_on(one.name)]


def deliver_and_remove(ebb: FakeEbb) -> None:
    """Deliver what is published, and let the autoscaler take drained nodes."""
    ebb.carry_on()
    for name in drained(ebb):
        del ebb.cluster.nodes[name]


def reschedule(ebb: FakeEbb) -> None:
    """Evicted pods come back at once on the emptiest open node, as a controller and a scheduler would have it."""
    born = iter(range(10_000))

    def again() -> None:
        gone = [one_pod for one_pod in ebb.cluster.pods.values() if one_pod.deleting]
        for one_pod in gone:
            ebb.cluster.finish(one_pod.key)
            open_nodes = [name for name, one in ebb.cluster.nodes.items() if not one.unschedulable]
            target = min(open_nodes, key=lambda name: sum(p.requests.cpu for p in ebb.cluster.pods_on(name)))
            ebb.cluster.put(pod(f"again{next(born)}", on=target, kind=one_pod.spec))

    ebb.clock.moves.append(again)


def begun(ebb: FakeEbb) -> FakeEbb:
    """Let a tick order n1 and its drain run until its pods have moved; return it."""
    ebb.tick()
    assert ebb.deliver(ebb.bus.published.pop()) is PushReply.DONE
    return ebb


def healed(ebb: FakeEbb) -> None:
    """One pass, and the releases that it publishes carried out."""
    ebb.pass_time(minutes=5)
    ebb.tick()
    published, ebb.bus.published = ebb.bus.published, []
    assert {ebb.deliver(sent) for sent in published if sent.kind is OrderKind.RELEASE} <= {PushReply.DONE}
