"""Orders of one instance: how often the whole cluster is read for them, and whether proofs count each other."""

from datetime import timedelta

import pytest

from shared.core.cluster.autoscaling import Buffers
from shared.core.cluster.namespace_limits import NamespaceLimits
from shared.core.cluster.returning import VerticalAutoscalers
from shared.core.cluster.storage import Storage
from shared.core.cluster.workloads import Workload
from shared.core.records.drain_record import EvictionAnswer
from shared.core.records.orders import Order, Origin
from shared.core.records.state import ClusterState
from shared.errors import Retryable
from shared.ports import Eviction
from tests.builders import NOW, claim, mounts, node, order, pdb, pod, pod_class, storage, volume_claim
from tests.depth import cases
from tests.fakes import once
from tests.functions.fake_ebb import FakeEbb

WEB = pod_class(owner="ReplicaSet/web")
STUCK = pod("stuck", cpu=3, owner="ReplicaSet/stuck", unschedulable_since=NOW - timedelta(hours=1))


def asked(name: str) -> Order:
    """A person's question, which always needs a whole picture and changes nothing."""
    return order(name, order_id=f"for-{name}", origin=Origin.MANUAL, reason="manual", dry_run=True)


def fake_ebb() -> FakeEbb:
    nodes = [node(f"n{index}") for index in range(1, 5)]
    return FakeEbb(*nodes, *(pod(f"p{index}", on=f"n{index}", kind=WEB) for index in (1, 2, 3)), one_instance=True)


def pictures(ebb: FakeEbb) -> int:
    return sum(call[0] == "read" for call in ebb.cluster.calls)


def told(ebb: FakeEbb) -> list[object]:
    return [line["shared"] for line in ebb.log.of("drain_step") if line.get("reason") == "whole_picture"]


def test_the_orders_of_one_instance_share_a_snapshot_and_the_log_counts_it() -> None:
    ebb = fake_ebb()

    for name in ("n1", "n2", "n3"):
        ebb.drain(asked(name))

    assert (pictures(ebb), told(ebb)) == (1, [False, True, True])
    assert ebb.reasons("drain_result") == [""] * 3


@cases("expected, seconds", ("20 s", 1, 20), ("over 20 s", 2, 20.1))
def test_a_snapshot_is_shared_for_twenty_seconds(expected: int, seconds: float) -> None:
    ebb = fake_ebb()
    ebb.drain(asked("n1"))

    ebb.pass_time(seconds=seconds)
    ebb.drain(asked("n2"))

    assert pictures(ebb) == expected


def test_a_snapshot_is_not_shared_once_another_drain_may_have_moved_pods() -> None:
    ebb = fake_ebb()
    ebb.drain(asked("n1"))
    ebb.remember(ClusterState(claims={"uid-n3": claim("n3", order_id="other", since=ebb.clock.now())}))

    ebb.pass_time(seconds=6)
    ebb.drain(asked("n2"))

    assert (pictures(ebb), told(ebb)) == (2, [False, False])


@cases("expected, claims", ("once for all orders", 1, ("data",)), ("not where no pod has a claim", 0, ()))
def test_orders_that_trust_the_planners_snapshot_read_storage_together(expected: int, claims: tuple[str, ...]) -> None:
    kind = pod_class(owner="ReplicaSet/web", volumes=mounts(*claims))
    nodes = [node(f"n{index}") for index in (1, 2, 3, 4)]
    ebb = FakeEbb(*nodes, pod("p1", on="n1", kind=kind), pod("p2", on="n2", kind=kind), one_instance=True)
    ebb.cluster.storage_held = storage(*(volume_claim(one) for one in claims))

    for name in ("n1", "n2"):
        ebb.drain(order(name, order_id=f"for-{name}", dry_run=True))

    assert sum(call[0] == "storage" for call in ebb.cluster.calls) == expected
    assert pictures(ebb) == 0


def test_a_snapshot_that_fails_fails_its_own_order_alone() -> None:
    ebb = fake_ebb()
    ebb.cluster.failures["read"] = [Retryable("API", "no answer")]

    replies = [ebb.drain(asked(name)).value for name in ("n1", "n2")]

    assert (replies, told(ebb)) == ([503, 204], [False])


def test_of_two_orders_that_prove_their_place_again_the_second_counts_the_first() -> None:
    """One pass proved both; a pod without a place makes each prove again, and by now there is room for one alone."""
    own = [pod(f"p{index}", on=f"n{index}", cpu=2, owner=f"ReplicaSet/r{index}") for index in (1, 2)]
    full = pod("full", on="n4", cpu=3, owner="ReplicaSet/full")
    nodes = [node(f"n{index}", cpu=4) for index in (1, 2, 3, 4)]
    ebb = FakeEbb(*nodes, *own, full, STUCK, one_instance=True, step_seconds=8)
    ebb.cluster.workloads = {one_pod.spec.workload: Workload(one_pod.spec.workload, 1, 1, created=1) for one_pod in own}
    first, second = order("n1", order_id="first"), order("n2", order_id="second")
    ebb.cluster.meanwhile["evict",] = once(lambda: ebb.drain(first))  # it is claimed after our proof
    ebb.drain(second)

    ends = [(line["node"], line["reason"]) for line in ebb.log.of("drain_result")]
    assert set(ebb.remembered().claims) == {"uid-n1"}
    assert ends == [("n2", "no_place_for_pods")]


OPENS = 60.0
"""When the budget lets the pod go, in seconds."""


def asked_while_nothing_moves(age: int, refusals: int) -> tuple[FakeEbb, list[float]]:
    """Let a drain prove on a picture of such an age that another order read, and its first evictions be refused.

    All room is gone just after the picture. Returns when evictions were asked for, in seconds since then.
    """
    own = pod("p", on="n1", kind=pod_class(owner="ReplicaSet/web", cpu=1)), pdb("web", app="web")
    ebb = FakeEbb(*(node(name) for name in ("n1", "n2", "n3")), *own, one_instance=True)
    rivals = [pod(f"rival-{name}", on=name, kind=pod_class(owner="ReplicaSet/r", cpu=3.5)) for name in ("n2", "n3")]
    busy = Eviction(EvictionAnswer.CONFLICT, "somebody else wrote")
    ebb.later(2, lambda: ebb.cluster.put(pdb("web", allowed=0, app="web")))
    ebb.later(OPENS - age, lambda: ebb.drain(asked("n2")))
    ebb.later(OPENS - age, lambda: ebb.cluster.put(*rivals))
    ebb.later(OPENS, lambda: ebb.cluster.put(pdb("web", app="web")))
    ebb.later(OPENS, lambda: ebb.cluster.answers.update({"default/p": [busy] * refusals}))
    at: list[float] = []
    ebb.cluster.meanwhile["evict", "default/p", 30, False] = lambda: at.append(ebb.clock.passed - (OPENS - age))
    ebb.drain(order())
    return ebb, [seconds for seconds in at if seconds >= 0]


@pytest.mark.parametrize("refusals", range(1, 7))
@pytest.mark.parametrize("age", range(0, 20, 3))
def test_no_first_eviction_rests_on_room_that_is_gone_for_twenty_seconds(age: int, refusals: int) -> None:
    ebb, at = asked_while_nothing_moves(age, refusals)

    assert at[0] >= age
    assert max(at) <= 20
    assert told(ebb)[:3] == [False, False, True]


@cases(
    "held, words",
    ("storage", {"storage_held": Storage(unread=("csinodes",))}, "no csinodes are known"),
    ("autoscalers", {"autoscalers_held": VerticalAutoscalers(unread=("verticalpodautoscalers",))},
     "not list verticalpodautoscalers"),
    ("quotas", {"limits_held": NamespaceLimits(unread=("resourcequotas",))}, "not list resourcequotas"),
    ("capacity buffers", {"buffers_held": Buffers(unread=("capacitybuffers",))}, "not list capacitybuffers"),
)  # fmt: skip
def test_a_drainer_that_may_not_read_what_is_optional_shows_it_and_goes_on(held: dict[str, object], words: str) -> None:
    ebb = fake_ebb()
    vars(ebb.cluster).update(held)

    ebb.drain(asked("n1"))

    (line,) = [line for line in ebb.log.of("drain_step") if line.get("reason") == "advice_missing"]
    assert (line["severity"], line["node"], words in line["message"]) == ("WARNING", "n1", True)
    assert ebb.reasons("drain_result") == [""]
