"""The proof before the first eviction, as the drainer makes it: whose room counts, and what becomes of it. On fakes."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace as changed

from shared.core.state import DrainPhase, DrainRecord, PodProgress
from shared.ports import drain_key
from tests.builders import NOW, claim, order, pdb, pod, pod_class
from tests.shells.drainer_house import house
from tests.shells.house import House

BIG = pod_class(owner="ReplicaSet/web", cpu=1)
GRANTED = {"default/q0": PodProgress(uid="q0", answer="granted", at=NOW)}


def one_node_left() -> House:
    """Beside the drain's n1 only n2 has room, for one pod."""
    full = pod("full", on="n3", kind=pod_class(owner="ReplicaSet/full", cpu=3.5))
    return house(pod("p", on="n1", kind=BIG), pdb("web", app="web"), full)


def begin_another(ebb: House, needs: float, pods: Any, **its_claim: Any) -> None:
    """Let a drain of n9 stand, with a pod of so many cores on it."""
    other = pod("q", on="n9", kind=pod_class(owner="ReplicaSet/other", cpu=needs))
    ebb.cluster.put(replace(ebb.cluster.nodes["n2"], name="n9", uid="uid-n9", unschedulable=True), other)
    held = claim("n9", order_id="other", **its_claim)
    ebb.remember(changed(ebb.remembered(), claims={**ebb.remembered().claims, "uid-n9": held}))
    key = drain_key("other")
    record = DrainRecord(order=order("n9", order_id="other"), phase=DrainPhase.CORDONED, pods=pods or {})
    ebb.state.put(key, record, None)
    if pods is None:
        ebb.state.documents[ebb.state.cluster, key.collection, key.id] = (b'{"phase": 7}', "old")


BEFORE, AFTER = NOW - timedelta(minutes=1), NOW + timedelta(minutes=1)


@pytest.mark.parametrize(
    ("expected", "needs", "pods", "its_claim"),
    [
        pytest.param(["stale"], 3.5, {}, {"since": BEFORE}, id="an older claim that needs the room"),
        pytest.param([], 9, {}, {"since": BEFORE}, id="one whose pod fits nowhere"),
        pytest.param([], 9, GRANTED, {"since": BEFORE}, id="though it moves pods"),
        pytest.param([], 3.5, {}, {"since": AFTER}, id="a younger claim that has moved nothing"),
        pytest.param(["stale"], 3.5, GRANTED, {"since": AFTER}, id="a younger claim that moves pods"),
        pytest.param(["stale"], 3.5, {}, {"since": AFTER, "drained": True}, id="one of which a pod came late"),
        pytest.param(["stale"], 3.5, None, {"since": AFTER}, id="one whose record nobody can read"),
    ],
)
def test_another_drain_calls_ours_off_only_for_room_that_it_comes_first_to(
    expected: list[str], needs: float, pods: Any, its_claim: dict[str, Any]
) -> None:
    ebb = one_node_left()
    ebb.later(3, lambda: begin_another(ebb, needs, pods, **{"drained": UNSET, **its_claim}))

    ebb.drain(order())

    assert ebb.reasons("drain_result") == expected
    assert ("evict" in {call[0] for call in ebb.effects()}) is not bool(expected)
