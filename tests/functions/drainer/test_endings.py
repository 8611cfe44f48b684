"""How a drain ends in the documents: when its claim leaves the budgets, and whose node and claim it leaves alone."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from msgspec import structs

from functions.drainer.main import PushReply
from shared.core.draining.evicting import STATUS_LAG, WORKLOADS_STAND_FOR
from shared.core.records.drain_record import DrainPhase
from shared.ports import CLUSTER_KEY, DocumentKey
from tests.builders import claim, node, order, pdb, pod, policy
from tests.depth import cases
from tests.functions.drainer.one_drain import WEB, fake_ebb, half_returned
from tests.functions.fake_ebb import FakeEbb

BRIEF, LONG = replace(WEB, grace_seconds=1), replace(WEB, grace_seconds=60)


def remove(ebb: FakeEbb) -> None:
    ebb.cluster.nodes.pop("n1", None)


def pause(ebb: FakeEbb) -> None:
    ebb.policy.policy = policy(cluster_wide={"paused": True})


@cases(
    "grace, then",
    ("the node is drained", BRIEF, lambda _: None),
    ("the node is gone", LONG, remove),
    ("the node is returned", LONG, pause),
)
def test_a_claim_counts_until_every_drain_sees_that_what_it_moved_is_away(
    grace: Any, then: Callable[[FakeEbb], None]
) -> None:
    """Until then another drain would take one replica too many of the same workload."""
    ebb = fake_ebb(pod("p", on="n1", kind=grace), pdb("web", app="web"))
    put, counted = ebb.state.put, list[datetime]()

    def noted(key: DocumentKey[Any], value: Any, expected: str | None) -> str:
        if key == CLUSTER_KEY and any(not one.drained for one in value.claims.values()):
            counted.clear()
        elif key == CLUSTER_KEY:
            counted.append(ebb.clock.now())
        return put(key, value, expected)

    def moved() -> None:
        if ebb.effects()[-1:] and ebb.effects()[-1][0] == "evict":
            then(ebb)

    ebb.state.put = noted  # type: ignore[method-assign]  # when the claim has left the budgets
    ebb.clock.moves.append(moved)
    ebb.drain(order())

    assert counted[0] - ebb.record().pods["default/p"].at >= STATUS_LAG + WORKLOADS_STAND_FOR


def test_a_node_reborn_under_its_name_is_not_returned() -> None:
    ebb = half_returned()
    ebb.cluster.put(replace(node("n1"), uid="uid-second"))
    ebb.cluster.calls.clear()

    assert ebb.deliver(order()) is PushReply.DONE
    assert [call for call in ebb.cluster.calls if call[0] in {"return_node", "note"}] == []


def test_a_claim_that_another_order_holds_by_now_is_left() -> None:
    ebb = half_returned()
    ebb.remember(structs.replace(ebb.remembered(), claims={"uid-n1": claim("n1", order_id="another")}))

    assert ebb.deliver(order()) is PushReply.DONE
    assert ebb.record().phase is DrainPhase.SETTLED
    assert ebb.remembered().claims["uid-n1"].order_id == "another"
