"""A little cluster with one drain in it: what was evicted, a person's release of it, and a step that dies."""

import json
from datetime import timedelta
from typing import Any

from functions.drainer.main import PushReply
from shared.core.records.drain_record import EvictionAnswer
from shared.core.records.orders import Order, OrderKind
from shared.errors import Retryable
from shared.ports import Eviction
from tests.builders import NOW, node, order, pdb, pod, pod_class
from tests.functions.fake_ebb import FakeEbb

WEB = pod_class(owner="ReplicaSet/web")
RELEASE = json.dumps({"kind": "release", "node": "n1"}).encode()


def fake_ebb(*things: Any, **changes: Any) -> FakeEbb:
    """Three nodes with room; a pod of a PDB-guarded Deployment on n1 unless things are given."""
    own = things or (pod("p", on="n1", kind=WEB), pdb("web", app="web"))
    return FakeEbb(node("n1"), node("n2"), node("n3"), *own, **changes)


def holder(ebb: FakeEbb) -> str | None:
    return ebb.cluster.nodes["n1"].drain_taint


def released(**changes: Any) -> Order:
    """A release that does not expire within the test."""
    return order(kind=OrderKind.RELEASE, **{"expires_at": NOW + timedelta(hours=1), **changes})


def evicted(ebb: FakeEbb) -> list[object]:
    return [call[1] for call in ebb.effects() if call[0] == "evict"]


def half_returned() -> FakeEbb:
    """A drain whose end has begun, and whose node could not be written."""
    ebb = fake_ebb()
    ebb.cluster.answers["default/p"] = [Eviction(EvictionAnswer.GRANTED), Eviction(EvictionAnswer.FORBIDDEN, "webhook")]
    ebb.cluster.failures["return_node"] = [Retryable("kubernetes", "timeout")]
    assert ebb.drain(order()) is PushReply.AGAIN
    return ebb


def dies_after(ebb: FakeEbb, method: str) -> None:
    """Kill the step once a call of a method has had its effect; the message never comes again."""
    own, alive = getattr(ebb.cluster, method), [True]

    def call(*given: Any, **more: Any) -> Any:
        answer = own(*given, **more)
        if alive and not more.get("dry_run"):
            alive.pop()
            raise Retryable("kubernetes", "killed")
        return answer

    setattr(ebb.cluster, method, call)
