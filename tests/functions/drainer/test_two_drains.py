"""Two drains at once that move pods of one workload without a PodDisruptionBudget: never more away than may be."""

from collections.abc import Callable
from typing import Any

from functions.drainer.main import PushReply
from shared.core.cluster.workloads import Workload
from shared.core.records.state import ClusterState
from shared.errors import Retryable
from tests.builders import node, order, pdb, pod, pod_class
from tests.depth import cases
from tests.fakes import once
from tests.functions.fake_ebb import FakeEbb

WEB = pod_class(owner="ReplicaSet/web")
KEY = WEB.workload
FIRST, SECOND = order("n1", order_id="first"), order("n2", order_id="second")


def fake_ebb(replicas: int, *things: Any, on: tuple[str, ...] = ("n1", "n2"), **changes: Any) -> FakeEbb:
    """Four nodes, a replica of `web` on each of those named; its controller's status is written late, if at all."""
    pods = [pod(f"p{index}", on=name, owner="ReplicaSet/web", grace_seconds=30) for index, name in enumerate(on)]
    ebb = FakeEbb(*(node(f"n{index}") for index in range(1, 5)), *pods, *things, **changes)
    ebb.cluster.workloads[KEY] = Workload("default/Deployment/web", replicas, replicas)
    return ebb


def at_the_first_eviction(ebb: FakeEbb, meanwhile: Callable[[], object]) -> None:
    """Do something else in the very moment before the first eviction takes effect."""
    ebb.cluster.meanwhile["evict", "default/p0", 30, False] = once(meanwhile)


def leaving(ebb: FakeEbb) -> list[str]:
    return sorted(str(call[1]) for call in ebb.effects() if call[0] == "evict")


def test_a_second_drain_is_refused_by_name_while_the_first_moves_the_same_workload() -> None:
    ebb = fake_ebb(4)
    at_the_first_eviction(ebb, lambda: ebb.drain(SECOND))

    ebb.drain(FIRST)

    assert leaving(ebb) == ["default/p0"]
    refused = [(line["node"], line["reason"]) for line in ebb.log.of("drain_result")]
    assert refused == [("n2", "workload_moving")]
    assert "default/Deployment/web" in ebb.log.of("drain_result")[0]["message"]


def test_the_second_drain_may_go_once_the_first_has_moved_its_pods() -> None:
    ebb = fake_ebb(4)

    ebb.drain(FIRST)
    ebb.drain(SECOND)

    assert leaving(ebb) == ["default/p0", "default/p1"]
    assert set(ebb.remembered().claims) == {"uid-n1", "uid-n2"}


@cases(
    "expected, replicas, available, guards",
    ("so many may be away", ["default/p0", "default/p1"], 8, 8, ()),
    ("one is away already", ["default/p0"], 8, 7, ()),
    ("a PDB guards them", ["default/p0", "default/p1"], 4, 4, (pdb("web", allowed=2, app="web"),)),
)
def test_both_go_at_once_where_so_many_may_be_away(
    expected: list[str], replicas: int, available: int, guards: tuple[Any, ...]
) -> None:
    ebb = fake_ebb(replicas, *guards)
    ebb.cluster.workloads[KEY] = Workload("default/Deployment/web", replicas, available)
    at_the_first_eviction(ebb, lambda: ebb.drain(SECOND))

    ebb.drain(FIRST)

    assert leaving(ebb) == expected
    assert ebb.remembered().claims["uid-n1"].moving_pods == {}


def test_a_later_drain_leaves_room_for_the_earlier_one_when_the_workload_shrinks_under_both() -> None:
    ebb = fake_ebb(8, step_seconds=20)
    shrunk = {KEY: Workload("default/Deployment/web", 4, 4)}
    ebb.cluster.meanwhile["take", "n2"] = lambda: ebb.cluster.workloads.update(shrunk)
    at_the_first_eviction(ebb, lambda: ebb.drain(SECOND))

    ebb.drain(FIRST)

    assert set(ebb.remembered().claims) == {"uid-n1", "uid-n2"}
    assert leaving(ebb) == ["default/p0"]


def test_a_crash_before_the_turns_are_dropped_is_made_good_by_the_repeated_message() -> None:
    ebb = fake_ebb(4)
    write, failures = ebb.state.put, [Retryable("state", "timeout")]

    def put(key: Any, value: Any, expected: str | None) -> str:
        given_up = isinstance(value, ClusterState) and value.claims and not value.claims["uid-n1"].moving_pods
        if given_up and failures:
            raise failures.pop()
        return write(key, value, expected)

    ebb.state.put = put  # type: ignore[method-assign]  # the write that gives the turns up fails once
    assert ebb.drain(FIRST) is PushReply.AGAIN
    assert ebb.remembered().claims["uid-n1"].moving_pods

    assert ebb.deliver(FIRST) is PushReply.DONE
    assert ebb.remembered().claims["uid-n1"].moving_pods == {}
