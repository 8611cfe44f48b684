"""The planner from tick to summary, on fakes."""

from dataclasses import replace as with_changes
from typing import Any

import pytest

from shared import VERSION
from shared.core.records.orders import Order, OrderKind, order_id
from shared.errors import EbbError, Retryable, Terminal
from shared.ports import WAVE_KEY, pool_key
from tests.builders import NOW, node, our_taint, pod, policy
from tests.depth import cases
from tests.fake_cluster import BYTES
from tests.fakes import failing, once
from tests.functions.fake_ebb import FakeEbb
from tests.functions.planner.half_empty_nodes import MINUTE, fake_ebb, marks


def test_a_tick_marks_orders_and_shows_it() -> None:
    ebb = fake_ebb()

    summary = ebb.tick()

    (published,) = ebb.bus.drains
    assert (published.node, published.node_uid, published.reason.value) == ("n1", "uid-n1", "underutilized")
    assert published.expires_at - published.issued_at == 10 * MINUTE
    assert summary["orders"] == ["n1"]
    assert summary["verdicts"] == {"order": 1, "would_order": 0, "in_flight": 0, "waiting": 0, "keep": 2}
    assert set(marks(ebb)) == {"uid-n1", "uid-n2", "uid-n3"}


def test_marks_are_saved_before_orders_are_published() -> None:
    ebb = fake_ebb()
    ebb.bus.failure = Retryable("pubsub", "timeout")

    with pytest.raises(Retryable):
        ebb.tick()

    assert set(marks(ebb)) == {"uid-n1", "uid-n2", "uid-n3"}
    assert ebb.remembered().planner is None


def slow(ebb: FakeEbb, seconds: float, each_order: float = 0) -> FakeEbb:
    """Let the picture of the cluster take so long, and each order."""
    publish = ebb.bus.publish

    def publishing(order: Order) -> None:
        ebb.pass_time(seconds=each_order)
        publish(order)

    ebb.cluster.meanwhile["read",] = lambda: ebb.pass_time(seconds=seconds)
    ebb.bus.publish = publishing  # type: ignore[method-assign]  # the bus is slow
    return ebb


def test_an_order_names_the_begin_of_its_snapshot_and_is_issued_at_its_end() -> None:
    """What was claimed while the picture was read may be missing in it."""
    ebb = slow(fake_ebb(), 30, each_order=30)

    ebb.tick()

    (published,) = ebb.bus.drains
    assert (published.picture_at, published.issued_at) == (NOW, NOW + MINUTE / 2)


def test_the_orders_of_a_slow_pass_are_on_their_way_after_it() -> None:
    ebb = slow(fake_ebb(), 30, each_order=30)

    ebb.tick()

    assert set(ebb.remembered().published) == {"uid-n1"}
    ebb.pass_time(minutes=4)
    assert "n1" not in ebb.tick()["orders"]


@cases("expected, seconds", ("half of the pass's time", False, 180), ("more", True, 181))
def test_a_pass_that_is_late_looks_no_further_ahead_whatever_its_schedule(expected: bool, seconds: float) -> None:
    ebb = slow(fake_ebb(), seconds)
    ebb.settings = with_changes(ebb.settings, pass_seconds=360, interval_seconds=1200)

    ebb.tick()

    assert ebb.log.of("run_summary")[-1]["search_braked"] is expected


@pytest.mark.acceptance(32)
def test_a_steady_state_writes_no_marks() -> None:
    ebb = fake_ebb(policy=policy(consolidate_after=60 * MINUTE))
    ebb.tick()
    before = ebb.state.get(pool_key("a")).version

    ebb.pass_time(minutes=5)
    ebb.tick()

    assert ebb.state.get(pool_key("a")).version == before


@pytest.mark.acceptance(30)
def test_a_mark_falls_when_the_node_fills_up_and_starts_again_later() -> None:
    ebb = fake_ebb(policy=policy(consolidate_after=60 * MINUTE))
    ebb.tick()
    full = pod("full", on="n1", cpu=2.9)

    ebb.cluster.put(full)
    ebb.pass_time(minutes=5)
    ebb.tick()
    assert "uid-n1" not in marks(ebb)

    ebb.cluster.finish(full.key)
    ebb.pass_time(minutes=5)
    ebb.tick()
    assert marks(ebb)["uid-n1"].since == NOW + 10 * MINUTE


@cases(
    "kept, seconds",
    ("passes twenty minutes apart, as expected", True, 1200),
    ("three passes missing of a five-minute schedule", False, 300),
)
def test_marks_outlive_three_missing_passes_of_the_interval_that_is_set(kept: bool, seconds: float) -> None:
    ebb = fake_ebb(policy=policy(consolidate_after=600 * MINUTE))
    ebb.settings = with_changes(ebb.settings, interval_seconds=seconds)
    ebb.tick()
    since = marks(ebb)["uid-n1"].since

    ebb.pass_time(minutes=20)
    ebb.tick()

    assert (marks(ebb)["uid-n1"].since == since) is kept


@pytest.mark.acceptance(55)
def test_a_dry_run_saves_marks_and_claims_publishes_and_touches_nothing() -> None:
    ebb = fake_ebb(policy=policy(cluster_wide={"dry_run": True}))

    summary = ebb.tick()

    assert ebb.bus.published == []
    assert ebb.effects() == []
    assert summary["would_order"] == ["n1"]
    assert [line["verdict"] for line in ebb.log.of("node_decision") if line["node"] == "n1"] == ["would_order"]
    assert ebb.remembered().claims == {}


@pytest.mark.acceptance(7)
def test_the_policy_is_read_again_at_every_pass() -> None:
    ebb = fake_ebb(policy=policy(enabled=False))
    assert ebb.tick()["orders"] == []

    ebb.policy.policy = policy()
    ebb.pass_time(minutes=5)

    assert ebb.tick()["orders"] == ["n1"]


@pytest.mark.acceptance(9)
def test_a_missing_policy_orders_nothing_ends_well_and_shows_it_loudly() -> None:
    ebb = fake_ebb(policy=None)

    summary = ebb.tick()

    assert (summary["orders"], ebb.bus.published, ebb.effects()) == ([], [], [])
    assert [line["severity"] for line in ebb.log.of("policy_invalid")] == ["ERROR"]


TICK = "2026-03-04T22:00:00Z"


@cases(
    "between",
    ("at once", ()),
    ("after its own second pass", (f"{TICK}+",)),
    ("after a call without a schedule", ("",)),
    ("after an hour of ticks", tuple(f"2026-03-04T22:{minute:02}:00Z" for minute in range(5, 60, 5))),
)
def test_a_repeated_tick_is_a_duplicate_and_orders_nothing_more(between: tuple[str, ...]) -> None:
    ebb = fake_ebb()
    for when in (TICK, *between):
        ebb.tick(when)
    sent = list(ebb.bus.published)

    assert ebb.tick(TICK)["duplicate"] is True
    assert ebb.bus.published == sent


def test_a_tick_that_comes_again_during_its_pass_is_a_duplicate_then_and_afterwards() -> None:
    ebb = fake_ebb()
    second: list[dict[str, Any]] = []
    ebb.cluster.meanwhile["read",] = once(lambda: second.append(ebb.tick(TICK)))

    assert ebb.tick(TICK)["orders"] == ["n1"]
    assert [*second, ebb.tick(TICK)] == [{"duplicate": True, "run_id": TICK}] * 2


@cases(
    "expected, call",
    ("as it saves marks", ["n1"], ("put", "pools")),
    ("when its orders are sent and remembered", ["n2"], ("put", "ledger")),
)
def test_a_tick_that_died_is_run_again_when_its_lease_has_lapsed(expected: list[str], call: tuple[str, str]) -> None:
    ebb = fake_ebb()
    ebb.state.meanwhile[call] = once(failing(SystemExit()))
    with pytest.raises(SystemExit):
        ebb.tick("t")
    assert ebb.tick("t")["duplicate"] is True

    ebb.pass_time(minutes=7)

    assert ebb.tick("t")["orders"] == expected


def test_the_same_run_gives_the_same_order_ids() -> None:
    first, second = fake_ebb(), fake_ebb()
    first.tick("t")
    second.tick("t")

    assert first.bus.drains[0].order_id == second.bus.drains[0].order_id == order_id("t", "uid-n1")


@cases(
    "broken",
    ("the cluster does not answer", "cluster"),
    ("the GKE API does not answer", "pools"),
    ("the policy's bucket does not answer", "policy"),
)
def test_an_outage_ends_the_pass_and_the_retried_tick_runs_again(broken: str) -> None:
    ebb = fake_ebb()
    fault = Retryable(broken, "timeout")
    good = ebb.policy.policy
    if broken == "cluster":
        ebb.cluster.failures["read"] = [fault]
    elif broken == "pools":
        ebb.pools.failure = fault
    else:
        ebb.policy.policy = fault

    with pytest.raises(Retryable):
        ebb.tick("t")
    assert ebb.bus.published == []

    ebb.pools.failure, ebb.policy.policy = None, good
    assert ebb.tick("t")["orders"] == ["n1"]


@cases("fault", ("an outage", Retryable("it", "timeout")), ("denied", Terminal("it", "403")))
@pytest.mark.parametrize("of", ["the GKE API", "the policy's bucket"])
def test_healing_goes_on_while_nothing_can_be_ordered(of: str, fault: EbbError) -> None:
    ebb = fake_ebb()
    ebb.cluster.put(node("n9", unschedulable=True, taints=(our_taint("lost"),)))
    if of == "the GKE API":
        ebb.pools.failure = fault
    else:
        ebb.policy.policy = fault

    with pytest.raises(type(fault)):
        ebb.tick()

    assert [(sent.kind, sent.node, sent.why) for sent in ebb.bus.published] == [(OrderKind.RELEASE, "n9", "orphan")]


@pytest.mark.parametrize("whole", [True, False], ids=["all is read", "nodes and pods alone"])
@pytest.mark.parametrize("collection", [WAVE_KEY.collection, pool_key("a").collection])
def test_healing_needs_neither_the_wave_nor_marks(collection: str, whole: bool) -> None:
    """Two hours without the wave's document kept a drained node cordoned for as long."""
    ebb = fake_ebb()
    ebb.cluster.put(node("n9", unschedulable=True, taints=(our_taint("lost"),)))
    ebb.state.meanwhile["all", collection] = failing(Retryable("state", "503"))
    if not whole:
        ebb.cluster.failures["read"] = [Retryable("it", "500")]

    with pytest.raises(Retryable):
        ebb.tick()

    assert [(sent.kind, sent.node, sent.why) for sent in ebb.bus.published] == [(OrderKind.RELEASE, "n9", "orphan")]


@pytest.mark.acceptance(105)
def test_every_pass_logs_the_cluster_its_pools_and_each_verdict() -> None:
    ebb = fake_ebb()
    ebb.tick()

    (state,) = ebb.log.of("cluster_state")
    assert (state["nodes"], state["pods"], state["non_tainted_nodes"]) == (3, 3, 3)
    assert [line["pool"] for line in ebb.log.of("pool_state")] == ["a"]
    assert [line["node"] for line in ebb.log.of("node_decision")] == ["n1", "n2", "n3"]
    assert ebb.log.of("run_summary")[0]["verdicts"]["order"] == 1


def test_a_pass_shows_what_it_alone_has_asked_of_the_api() -> None:
    ebb = fake_ebb()
    told = []
    for time in ("first", "second"):
        before = len(ebb.cluster.calls)
        ebb.tick(time)
        asked = len(ebb.cluster.calls) - before
        told.append((asked, BYTES * asked))

    assert [(line["api_calls"], line["api_bytes"]) for line in ebb.log.of("run_summary")] == told
    assert told[0][0] > 0


def test_a_pass_leaves_its_version_for_the_laptop_to_compare() -> None:
    ebb = fake_ebb()
    ebb.tick()
    assert ebb.remembered().version == VERSION
