"""A wave from its first pass to its end: its document, the orders for its soft taints, and the drainer's writes."""

import dataclasses
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from functions.drainer.main import PushReply
from shared.core.cluster import names
from shared.core.cluster.node import SOFT_TAINT, Node
from shared.core.cluster.selectors import NO_SCHEDULE, PREFER_NO_SCHEDULE, Taint
from shared.core.policy import Budget, Limit, Policy
from shared.core.policy.values import WaveLimits
from shared.core.records.orders import Order, OrderKind
from shared.core.records.state import Wave, WaveNode
from shared.errors import EbbError, Retryable, Stale
from shared.ports import WAVE_KEY, PoolsReading, pool_key
from tests.builders import NOW, node, order, our_taint, pod, policy
from tests.depth import cases
from tests.fakes import FakeClock, FakePools, failing
from tests.functions.fake_ebb import FakeEbb

HALF = WaveLimits(Limit(percent=50), timedelta(minutes=90))
NAMES = ("n1", "n2", "n3", "n4", "n5", "n6")
HOLD, LET_GO = OrderKind.HOLD, OrderKind.LET_GO
ONE_AT_A_TIME = (Budget(Limit(count=1)),)


def rules(
    *,
    dry_run: bool = False,
    version: str = "h",
    wave: WaveLimits | None = HALF,
    budgets: tuple[Budget, ...] = ONE_AT_A_TIME,
    enabled: bool = True,
) -> Policy:
    wide = {"wave": wave, "dry_run": dry_run, "hash": version}
    return policy(cluster_wide=wide, required_count=0, budgets=budgets, enabled=enabled)


NOTHING_GOES = rules(version="other", enabled=False)


def ebb_with_room(**given: Any) -> FakeEbb:
    """Six nodes with a pod each, of which all would fit on two."""
    nodes = [node(name) for name in NAMES]
    pods = [pod(f"p-{name}", on=name, cpu=1, owner=f"ReplicaSet/{name}") for name in NAMES]
    return FakeEbb(*nodes, *pods, policy=given.pop("policy", rules()), **given)


def wave(ebb: FakeEbb) -> Wave | None:
    return ebb.state.get(WAVE_KEY).value


def of_kind(ebb: FakeEbb, *kinds: OrderKind) -> list[Order]:
    return [sent for sent in ebb.bus.published if sent.kind in kinds]


def deliver_all(ebb: FakeEbb, *kinds: OrderKind) -> None:
    for sent in of_kind(ebb, *kinds):
        assert ebb.deliver(sent) is PushReply.DONE
        ebb.bus.published.remove(sent)


def held(ebb: FakeEbb) -> list[str]:
    return sorted(name for name, one_node in ebb.cluster.nodes.items() if one_node.held)


def ebb_with_wave() -> FakeEbb:
    """A pass has begun a wave, and its soft taints stand; its drains are lost."""
    ebb = ebb_with_room()
    ebb.tick()
    deliver_all(ebb, HOLD)
    ebb.bus.published.clear()
    return ebb


def test_a_pass_writes_the_wave_and_the_drainer_taints_its_nodes_once() -> None:
    ebb = ebb_with_room()

    ebb.tick()

    found = wave(ebb)
    assert found is not None
    assert [one_node.name for one_node in found.nodes] == ["n1", "n2", "n3"]
    assert (found.policy_hash, found.deadline - found.began) == ("h", HALF.deadline)
    assert [sent.kind for sent in ebb.bus.published] == [HOLD, OrderKind.DRAIN]
    assert [sent.node for sent in of_kind(ebb, OrderKind.DRAIN)] == ["n1"]
    deliver_all(ebb, HOLD)
    assert held(ebb) == ["n1", "n2", "n3"]
    ebb.bus.published.clear()
    ebb.tick("2")
    assert of_kind(ebb, HOLD, LET_GO) == []


def ebb_with_costly_nodes(*, cpu: float) -> FakeEbb:
    """Six nodes with a pod each, of which the last two cost more for their size."""
    ebb = ebb_with_room()
    ebb.cluster.put(*(node(name, machine="n2-standard-4") for name in NAMES[-2:]))
    ebb.cluster.put(*(pod(f"p-{name}", on=name, cpu=cpu, owner=f"ReplicaSet/{name}") for name in NAMES))
    return ebb


def test_pods_avoid_costly_nodes_without_a_wave_and_a_steady_state_writes_nothing() -> None:
    ebb = ebb_with_costly_nodes(cpu=3.5)
    ebb.tick()
    deliver_all(ebb, HOLD)
    written = ebb.state.get(WAVE_KEY).version

    ebb.tick("2")

    found = wave(ebb)
    assert found is not None
    assert (found.nodes, [one_node.name for one_node in found.costly], held(ebb)) == ((), ["n5", "n6"], ["n5", "n6"])
    assert (ebb.state.get(WAVE_KEY).version, of_kind(ebb, HOLD, LET_GO)) == (written, [])
    ebb.remember(replace(ebb.remembered(), paused=True))
    ebb.tick("3")
    assert [(row["reason"], row["nodes"]) for row in ebb.log.of("wave")] == [("costly", 2), ("costly", 0)]


def test_a_wave_that_ends_leaves_costly_nodes_their_soft_taint() -> None:
    ebb = ebb_with_costly_nodes(cpu=1)
    ebb.tick()
    deliver_all(ebb, HOLD)
    begun = held(ebb)
    ebb.bus.published.clear()
    ebb.remember(replace(ebb.remembered(), published={}))
    ebb.policy.policy = rules(budgets=(Budget(Limit(count=0)),))
    ebb.pass_time(minutes=91)

    ebb.tick("2")
    deliver_all(ebb, LET_GO)

    assert (begun, held(ebb)) == (["n1", "n5", "n6"], ["n5", "n6"])
    assert [row["reason"] for row in ebb.log.of("wave")] == ["begun", "costly", "deadline"]


def test_a_wave_whose_last_node_leaves_it_ends_though_costly_nodes_stay_held() -> None:
    ebb = ebb_with_costly_nodes(cpu=1)
    ebb.tick()
    ebb.cluster.put(*(pod(f"q-{name}", on=name, cpu=2.9, owner=f"ReplicaSet/{name}") for name in NAMES))
    ebb.remember(replace(ebb.remembered(), published={}))

    ebb.tick("2")

    assert [row["reason"] for row in ebb.log.of("wave")] == ["begun", "costly", "shrunk", "empty"]
    found = wave(ebb)
    assert found is not None
    assert (found.nodes, len(found.costly)) == ((), 2)


def test_a_lost_order_for_soft_taints_is_given_again_by_the_next_pass() -> None:
    ebb = ebb_with_room()
    ebb.tick()
    ebb.bus.published.clear()

    ebb.tick("2")

    assert [sorted(sent.nodes.values()) for sent in of_kind(ebb, HOLD)] == [["n2", "n3"]]


def test_the_log_names_the_nodes_that_leave_a_wave_and_no_others() -> None:
    ebb = ebb_with_room()
    ebb.tick()
    ebb.cluster.put(pod("mine", on="n2", owner="ReplicaSet/n2", annotations={names.SAFE_TO_EVICT: "false"}))

    ebb.tick("2")

    found = wave(ebb)
    assert found is not None
    assert [one_node.name for one_node in found.nodes] == ["n1", "n3"]
    (line,) = (row for row in ebb.log.of("wave") if row["reason"] == "shrunk")
    assert [name for name in NAMES if name in line["message"]] == ["n2"]


@cases(
    "expected, given, settings",
    ("half-way to the next tick", [0.0, 150.0], {}, {}),
    ("not while a person waits for the answer", [0.0], {"schedule_time": ""}, {}),
    ("not in dry run", [0.0], {"policy": rules(dry_run=True)}, {}),
    ("not where the policy sets no wave", [0.0], {"policy": rules(wave=None)}, {}),
    ("not if all nodes of the wave are ordered", [0.0], {"policy": rules(budgets=())}, {}),
    ("not if the call ends before", [0.0], {}, {"pass_seconds": 209.0}),
    ("sooner with a shorter interval", [0.0, 30.0], {}, {"interval_seconds": 60.0}),
)
def test_a_second_pass_follows_while_a_wave_has_nodes_left(
    expected: list[float], given: dict[str, Any], settings: dict[str, Any]
) -> None:
    ebb = ebb_with_room(**{key: value for key, value in given.items() if key == "policy"})
    ebb.settings = dataclasses.replace(ebb.settings, **settings)
    begun, when = ebb.clock.passed, given.get("schedule_time", "2026-03-04T22:00:00Z")

    summary = ebb.passes(when)

    runs = [line["run_id"] for line in ebb.log.of("run_summary")]
    assert runs == [summary["run_id"], f"{when}+"][: len(expected)]
    assert ebb.clock.passed - begun == expected[-1]


def test_no_second_pass_follows_one_that_orders_nothing() -> None:
    ebb = ebb_with_room()
    ebb.tick("1")

    summary = ebb.passes("2")

    assert (summary["orders"], summary["wave_left"]) == ([], 2)
    assert len(ebb.log.of("run_summary")) == 2


def test_the_lines_of_a_second_pass_bear_its_own_run_id() -> None:
    ebb = ebb_with_room()
    ebb.passes("2026-03-04T22:00:00Z")

    first, second = ebb.log.of("cluster_state")
    assert "run_id" not in first, "the log that is handed in is bound to the first"
    assert second["run_id"] == "2026-03-04T22:00:00Z+"


@dataclasses.dataclass
class SlowPools(FakePools):
    """The pools, which are read for a quarter of the time between two ticks."""

    clock: FakeClock = dataclasses.field(kw_only=True)

    def read(self) -> PoolsReading:
        self.clock.advance(75)
        return super().read()


def test_no_second_pass_meets_the_next_tick() -> None:
    ebb = ebb_with_room()
    ebb.pools = SlowPools(ebb.pools.pools, clock=ebb.clock)

    ebb.passes("t")

    assert len(ebb.log.of("run_summary")) == 1


def test_a_dry_run_begins_no_wave() -> None:
    ebb = ebb_with_room(policy=rules(dry_run=True))
    ebb.tick()
    assert wave(ebb) is None
    assert ebb.bus.published == []


def _lose_the_document(ebb: FakeEbb) -> None:
    ebb.state.delete(WAVE_KEY, ebb.state.get(WAVE_KEY).version or "")
    ebb.policy.policy = NOTHING_GOES


def _spoil_the_document(ebb: FakeEbb) -> None:
    ebb.state.documents[ebb.state.cluster, WAVE_KEY.collection, WAVE_KEY.id] = (b"[", "spoilt")
    ebb.policy.policy = NOTHING_GOES


def _change_the_policy(ebb: FakeEbb) -> None:
    ebb.policy.policy = NOTHING_GOES


@cases(
    "happens",
    ("the document is lost", _lose_the_document),
    ("the document does not decode", _spoil_the_document),
    ("the policy enables no pool any more", _change_the_policy),
)
def test_no_soft_taint_outlives_its_wave(happens: Callable[[FakeEbb], None]) -> None:
    ebb = ebb_with_wave()
    ebb.remember(replace(ebb.remembered(), published={}))

    happens(ebb)
    ebb.tick("2")
    deliver_all(ebb, LET_GO)

    assert wave(ebb) is None
    assert held(ebb) == []


@pytest.mark.parametrize("collection", [pool_key("a").collection, WAVE_KEY.collection])
@pytest.mark.parametrize("method", ["all", "put"])
def test_no_soft_taint_outlives_its_deadline_while_documents_of_a_plan_fail(collection: str, method: str) -> None:
    """The drainer still answers to the document, so only one that cannot be read leaves the taints as they are."""
    ebb = ebb_with_wave()
    ebb.pass_time(minutes=91)
    for call in {method, "delete" if method == "put" else method}:
        ebb.state.meanwhile[call, collection] = failing(Retryable("state", "503"))

    with pytest.raises(Retryable):
        ebb.tick("2")
    unread = (collection, method) == (WAVE_KEY.collection, "all")
    assert len(of_kind(ebb, LET_GO)) == (0 if unread else 1)
    deliver_all(ebb, LET_GO)
    assert held(ebb) == (["n1", "n2", "n3"] if unread else [])


def living(*names_of: str, minutes: int = 10) -> Wave:
    nodes = tuple(WaveNode(f"uid-{name}", name) for name in names_of)
    return Wave(id="w", nodes=nodes, policy_hash="h", began=NOW, deadline=NOW + timedelta(minutes=minutes))


def of_wave(kind: OrderKind, *names_of: str) -> Order:
    return replace(order("", kind=kind), nodes={f"uid-{name}": name for name in names_of})


PLAIN, SOFT = node("n1"), node("n1", taints=(SOFT_TAINT,))


@cases(
    "expected, kind, document, given",
    ("hold: the wave names the node", ["n1"], HOLD, living("n1"), PLAIN),
    ("hold: the wave does not name it", [], HOLD, living("n2"), PLAIN),
    ("hold: late, no wave lives", [], HOLD, None, PLAIN),
    ("hold: late, past the deadline", [], HOLD, living("n1", minutes=-1), PLAIN),
    ("hold: twice", ["n1"], HOLD, living("n1"), SOFT),
    ("hold: another node has the name", [], HOLD, living("n1"), node("n1", uid="another")),
    ("hold: its drain has begun", [], HOLD, living("n1"), node("n1", taints=(our_taint("x"),))),
    ("hold: it is gone", [], HOLD, living("n1"), node("n9")),
    ("let_go: no wave lives", [], LET_GO, None, SOFT),
    ("let_go: the wave names others", [], LET_GO, living("n2"), SOFT),
    ("let_go: late, a wave names it again", ["n1"], LET_GO, living("n1"), SOFT),
    ("let_go: twice", [], LET_GO, None, PLAIN),
)
def test_the_drainer_follows_the_document_and_not_the_message(
    expected: list[str], kind: OrderKind, document: Wave | None, given: Node
) -> None:
    ebb = FakeEbb(given)
    if document:
        ebb.state.put(WAVE_KEY, document, None)

    assert ebb.deliver(of_wave(kind, "n1")) is PushReply.DONE

    assert held(ebb) == expected


@pytest.mark.parametrize("kind", [HOLD, LET_GO])
def test_an_order_in_dry_run_changes_no_soft_taint(kind: OrderKind) -> None:
    before = [SOFT_TAINT] if kind is LET_GO else []
    ebb = FakeEbb(node("n1", taints=tuple(before)))
    if kind is HOLD:
        ebb.state.put(WAVE_KEY, living("n1"), None)

    assert ebb.deliver(replace(of_wave(kind, "n1"), dry_run=True)) is PushReply.DONE

    assert list(ebb.cluster.node("n1").taints) == before


@cases(
    "expected, kind, document",
    ("held: it is made soft", (SOFT_TAINT,), HOLD, living("n1")),
    ("let go: it is removed", (), LET_GO, None),
)
@pytest.mark.parametrize(
    "made", [Taint(names.HELD_TAINT, NO_SCHEDULE), Taint(names.HELD_TAINT, PREFER_NO_SCHEDULE, "x")], ids=str
)
def test_a_taint_of_waves_that_a_person_changed_is_set_right(
    expected: tuple[Taint, ...], kind: OrderKind, document: Wave | None, made: Taint
) -> None:
    ebb = FakeEbb(node("n1", taints=(made,)))
    if document:
        ebb.state.put(WAVE_KEY, document, None)

    assert ebb.deliver(of_wave(kind, "n1")) is PushReply.DONE

    assert ebb.cluster.node("n1").taints == expected


@cases(
    "expected, failures",
    ("another writer was first once", PushReply.DONE, [Stale("changed")]),
    ("again and again", PushReply.AGAIN, [Stale("changed")] * 5),
    ("the API server does not answer", PushReply.AGAIN, [Retryable("kubernetes", "down")]),
)
def test_a_write_that_fails_comes_again(expected: PushReply, failures: list[EbbError]) -> None:
    ebb = FakeEbb(node("n1"))
    ebb.state.put(WAVE_KEY, living("n1"), None)
    ebb.cluster.failures["set_soft_taint"] = list(failures)

    assert ebb.deliver(of_wave(HOLD, "n1")) is expected
    assert ebb.deliver(of_wave(HOLD, "n1")) is PushReply.DONE
    assert held(ebb) == ["n1"]
