"""The planner from tick to summary, on fakes; and both functions together."""

from dataclasses import replace as with_changes
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from functions.drainer.step import Reply
from shared.core.orders import Kind, order_id
from shared.core.policy import Policy
from shared.core.state import ClusterState, DrainPhase, Lease, Mark, PoolMarks, Run
from shared.errors import EbbError, Retryable, Terminal
from shared.ports import pool_key, run_key
from tests.builders import NOW, claim, node, order, our_taint, pdb, pod, policy
from tests.shells.house import House

MINUTE = timedelta(minutes=1)


def house(**changes: Any) -> House:
    """Two half-empty nodes and one that can take their pods."""
    pods = [pod(f"p{index}", on=f"n{index}", cpu=1, owner=f"ReplicaSet/r{index}") for index in (1, 2, 3)]
    return House(node("n1"), node("n2"), node("n3"), *pods, **changes)


def marks(ebb: House) -> dict[str, Mark]:
    found = ebb.state.get(pool_key("a")).value or PoolMarks()
    return found.marks


def test_a_tick_marks_orders_and_says_so() -> None:
    ebb = house()

    summary = ebb.tick()

    (published,) = ebb.bus.published
    assert (published.node, published.node_uid, published.reason.value) == ("n1", "uid-n1", "underutilized")
    assert published.expires_at - published.issued_at == 10 * MINUTE
    assert summary["orders"] == ["n1"]
    assert summary["verdicts"] == {"order": 1, "would_order": 0, "in_flight": 0, "waiting": 0, "keep": 2}
    assert set(marks(ebb)) == {"uid-n1", "uid-n2", "uid-n3"}


def test_marks_are_saved_before_orders_are_published() -> None:
    ebb = house()
    ebb.bus.failure = Retryable("pubsub", "timeout")

    with pytest.raises(Retryable):
        ebb.tick()

    assert set(marks(ebb)) == {"uid-n1", "uid-n2", "uid-n3"}
    assert ebb.remembered().planner is None


@pytest.mark.acceptance(32)
def test_a_steady_state_writes_no_marks() -> None:
    ebb = house(policy=policy(consolidate_after=60 * MINUTE))
    ebb.tick()
    before = ebb.state.get(pool_key("a")).version

    ebb.pass_time(minutes=5)
    ebb.tick()

    assert ebb.state.get(pool_key("a")).version == before


@pytest.mark.acceptance(30)
def test_a_mark_falls_when_the_node_fills_up_and_starts_anew_later() -> None:
    ebb = house(policy=policy(consolidate_after=60 * MINUTE))
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


@pytest.mark.acceptance(55)
def test_a_dry_run_saves_marks_and_claims_publishes_and_touches_nothing() -> None:
    ebb = house(policy=policy(cluster_wide={"dry_run": True}))

    summary = ebb.tick()

    assert ebb.bus.published == []
    assert ebb.effects() == []
    assert summary["would_order"] == ["n1"]
    assert [line["verdict"] for line in ebb.log.of("node_decision") if line["node"] == "n1"] == ["would_order"]
    assert ebb.remembered().claims == {}


@pytest.mark.acceptance(7)
def test_the_policy_is_read_anew_at_every_pass() -> None:
    ebb = house(policy=policy(enabled=False))
    assert ebb.tick()["orders"] == []

    ebb.policy.policy = policy()
    ebb.pass_time(minutes=5)

    assert ebb.tick()["orders"] == ["n1"]


@pytest.mark.acceptance(9)
def test_a_missing_policy_orders_nothing_ends_well_and_says_so_loudly() -> None:
    ebb = house(policy=None)

    summary = ebb.tick()

    assert (summary["orders"], ebb.bus.published, ebb.effects()) == ([], [], [])
    assert [line["severity"] for line in ebb.log.of("policy_invalid")] == ["ERROR"]


def test_a_repeated_tick_is_a_duplicate_and_orders_nothing_more() -> None:
    ebb = house()
    ebb.tick("2026-03-04T22:00:00Z")

    assert ebb.tick("2026-03-04T22:00:00Z")["duplicate"] is True
    assert len(ebb.bus.published) == 1


def test_a_call_without_the_schedulers_header_is_its_own_run() -> None:
    ebb = house()
    ebb.tick()

    assert "duplicate" not in ebb.tick()


def test_a_tick_that_died_is_run_again_when_its_lease_has_lapsed() -> None:
    ebb = house()
    ebb.state.put(run_key("t"), Run(run_id="t", lease=Lease("dead", NOW + MINUTE)), None)
    assert ebb.tick("t")["duplicate"] is True

    ebb.pass_time(minutes=2)

    assert ebb.tick("t")["orders"] == ["n1"]


@pytest.mark.acceptance(109)
def test_of_two_planners_only_one_acts() -> None:
    ebb = house()
    ebb.remember(ClusterState(planner=Lease("another", NOW + MINUTE)))

    assert ebb.tick()["duplicate"] is True
    assert ebb.cluster.calls == []


def test_the_same_run_gives_the_same_order_ids() -> None:
    first, second = house(), house()
    first.tick("t")
    second.tick("t")

    assert first.bus.published[0].order_id == second.bus.published[0].order_id == order_id("t", "uid-n1")


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param("cluster", id="the cluster does not answer"),
        pytest.param("pools", id="the GKE API does not answer"),
        pytest.param("policy", id="the policy's bucket does not answer"),
    ],
)
def test_an_outage_ends_the_pass_and_the_retried_tick_runs_anew(broken: str) -> None:
    ebb = house()
    fault = Retryable(broken, "timeout")
    good = ebb.policy.policy
    if broken == "cluster":
        ebb.cluster.failures["picture"] = [fault]
    elif broken == "pools":
        ebb.pools.failure = fault
    else:
        ebb.policy.policy = fault

    with pytest.raises(Retryable):
        ebb.tick("t")
    assert ebb.bus.published == []

    ebb.pools.failure, ebb.policy.policy = None, good
    assert ebb.tick("t")["orders"] == ["n1"]


@pytest.mark.parametrize(
    "fault",
    [pytest.param(Retryable("it", "timeout"), id="an outage"), pytest.param(Terminal("it", "403"), id="denied")],
)
@pytest.mark.parametrize("of", ["the GKE API", "the policy's bucket"])
def test_healing_goes_on_while_nothing_can_be_ordered(of: str, fault: EbbError) -> None:
    ebb = house()
    ebb.cluster.put(node("n9", unschedulable=True, taints=(our_taint("lost"),)))
    if of == "the GKE API":
        ebb.pools.failure = fault
    else:
        ebb.policy.policy = fault

    with pytest.raises(type(fault)):
        ebb.tick()

    assert [(each.kind, each.node, each.why) for each in ebb.bus.published] == [(Kind.RELEASE, "n9", "orphan")]


def test_an_autopilot_cluster_is_refused_with_a_sentence() -> None:
    ebb = house()
    ebb.pools.failure = Terminal("gke", "Autopilot manages its own nodes.")

    with pytest.raises(Terminal, match="Autopilot"):
        ebb.tick()


@pytest.mark.acceptance(105)
def test_every_pass_logs_the_cluster_its_pools_and_each_verdict() -> None:
    ebb = house()
    ebb.tick()

    (state,) = ebb.log.of("cluster_state")
    assert (state["nodes"], state["pods"], state["non_tainted_nodes"]) == (3, 3, 3)
    assert [line["pool"] for line in ebb.log.of("pool_state")] == ["a"]
    assert [line["node"] for line in ebb.log.of("node_decision")] == ["n1", "n2", "n3"]
    assert ebb.log.of("run_summary")[0]["verdicts"]["order"] == 1


def turn_until_gone(ebb: House, passes: int = 12) -> None:
    """Tick, deliver what is published, and let the autoscaler take drained nodes."""
    for _ in range(passes):
        ebb.tick()
        while ebb.bus.published:
            assert ebb.deliver(ebb.bus.published.pop(0)) is Reply.DONE
        drained = [
            each for each in ebb.cluster.nodes.values() if each.drain_taint and not ebb.cluster.pods_on(each.name)
        ]
        for each in drained:
            del ebb.cluster.nodes[each.name]
        ebb.pass_time(minutes=5)


@pytest.mark.acceptance(56)
def test_nodes_go_one_after_another_until_the_excess_is_used_up() -> None:
    ebb = House(*(node(f"n{index}") for index in range(5)), policy=policy(excess_threshold=2))
    for index in range(5):
        for part in range(11):
            ebb.cluster.put(pod(f"p{index}-{part}", on=f"n{index}", cpu=0.2, owner=f"ReplicaSet/{index}-{part}"))
    reschedule(ebb)

    turn_until_gone(ebb)

    assert len(ebb.cluster.nodes) == 4
    assert ebb.remembered().claims == {}


def reschedule(ebb: House) -> None:
    """Evicted pods come back at once on the emptiest open node, as a controller and a scheduler would have it."""
    born = iter(range(10_000))

    def again() -> None:
        gone = [each for each in ebb.cluster.pods.values() if each.deleting]
        for each in gone:
            ebb.cluster.finish(each.key)
            open_nodes = [name for name, one in ebb.cluster.nodes.items() if not one.unschedulable]
            target = min(open_nodes, key=lambda name: sum(p.requests.cpu for p in ebb.cluster.pods_on(name)))
            ebb.cluster.put(pod(f"again{next(born)}", on=target, kind=each.spec))

    ebb.clock.moves.append(again)


def test_a_node_that_is_gone_is_settled_and_leaves_the_budgets() -> None:
    ebb = house()
    ebb.tick()
    ebb.deliver(ebb.bus.published[0])
    del ebb.cluster.nodes["n1"]
    ebb.pass_time(minutes=1)

    summary = ebb.tick()

    assert summary["healed"] == 1
    assert "uid-n1" not in ebb.remembered().claims
    record = ebb.record(ebb.bus.published[0].order_id)
    assert record is not None
    assert (record.phase, record.outcome) == (DrainPhase.SETTLED, "removed")


def writes_of_a_pass(gone: int) -> int:
    """Let a pass find so many claims of nodes that are gone, and count what it writes to the state."""
    ebb = house(policy=policy(cluster_wide={"dry_run": True}))
    claims = {f"uid-gone{number}": claim(f"gone{number}", order_id=f"o{number}") for number in range(gone)}
    ebb.remember(ClusterState(claims=claims))
    ebb.pass_time(minutes=1)
    before = ebb.state.writes

    assert ebb.tick()["healed"] == gone
    assert ebb.remembered().claims == {}
    return ebb.state.writes - before


def test_thirty_claims_of_nodes_that_are_gone_end_in_one_write() -> None:
    assert writes_of_a_pass(gone=30) == writes_of_a_pass(gone=1)


@pytest.mark.acceptance(95)
def test_a_drain_whose_step_died_goes_on_at_the_next_pass() -> None:
    ebb = house()
    ebb.tick()
    first = ebb.bus.published.pop()
    ebb.cluster.failures["take"] = [Retryable("kubernetes", "killed")]
    ebb.deliver(first)
    ebb.pass_time(minutes=1)

    ebb.tick()

    again = next(each for each in ebb.bus.published if each.order_id == first.order_id)
    assert again.generation == 1
    assert ebb.deliver(again) is Reply.DONE
    assert ebb.cluster.nodes["n1"].drain_taint == first.order_id


@pytest.mark.acceptance(94)
def test_a_node_that_the_autoscaler_never_takes_is_given_back_by_the_watchdog() -> None:
    ebb = house()
    ebb.tick()
    ebb.deliver(ebb.bus.published.pop())

    ebb.pass_time(minutes=26)
    ebb.tick()
    ebb.deliver(ebb.bus.published[0])

    assert ebb.cluster.nodes["n1"].drain_taint is None
    assert ebb.remembered().backoffs["uid-n1"].why == "watchdog"


def test_a_state_lost_entirely_gives_every_node_back() -> None:
    ebb = house()
    ebb.tick()
    ebb.deliver(ebb.bus.published.pop())
    ebb.state.documents.clear()
    ebb.pass_time(minutes=1)

    ebb.tick()
    for each in list(ebb.bus.published):
        ebb.deliver(each)

    assert ebb.cluster.nodes["n1"].drain_taint is None
    assert not ebb.cluster.nodes["n1"].unschedulable


def test_the_time_gap_survives_a_cold_start_because_the_state_holds_it() -> None:
    ebb = house(policy=policy(cluster_wide={"time_gap": 10 * MINUTE}))
    ebb.tick()
    ebb.deliver(ebb.bus.published.pop())
    ebb.remember(replace(ebb.remembered(), claims={"uid-gone": claim("gone", since=NOW)}))

    ebb.pass_time(minutes=5)

    assert ebb.tick()["orders"] == []


def test_two_orders_for_one_place_in_the_budget_give_one_claim() -> None:
    rules = policy(budgets=Policy().budgets)
    ebb = House(node("n1"), node("n2"), node("n3"), pdb("web", app="web"), policy=rules)

    ebb.drain(order("n1", order_id="one"))
    ebb.drain(order("n2", order_id="two"))

    assert set(ebb.remembered().claims) == {"uid-n1"}
    assert ebb.reasons("drain_result") == ["budget"]


def begun(ebb: House) -> None:
    """Let a tick order n1 and its drain run until its pods have moved."""
    ebb.tick()
    assert ebb.deliver(ebb.bus.published.pop()) is Reply.DONE


def test_room_is_given_back_when_demand_returns() -> None:
    ebb = house()
    begun(ebb)
    ebb.cluster.put(*(pod(f"more{number}", on=f"n{number}", cpu=2.9) for number in (2, 3)))
    ebb.cluster.put(pod("new", cpu=2, unschedulable_since=NOW))
    ebb.pass_time(minutes=1)

    ebb.tick()
    (release,) = [each for each in ebb.bus.published if each.kind is Kind.RELEASE]
    assert (release.node, release.why) == ("n1", "demand")

    assert ebb.deliver(release) is Reply.DONE
    assert ebb.cluster.nodes["n1"].drain_taint is None
    assert ebb.remembered().backoffs == {}


def test_a_release_for_demand_is_void_when_nothing_waits_any_more() -> None:
    ebb = house()
    begun(ebb)

    ebb.deliver(order("n1", kind=Kind.RELEASE, order_id=ebb.remembered().claims["uid-n1"].order_id, why="demand"))

    assert ebb.cluster.nodes["n1"].drain_taint is not None


def test_a_moved_pod_that_finds_no_place_opens_the_pools_breaker() -> None:
    ebb = house()
    begun(ebb)
    stuck = pod("again", owner="ReplicaSet/r1", cpu=9, unschedulable_since=ebb.clock.now())
    ebb.cluster.put(stuck)
    ebb.pass_time(minutes=2)

    summary = ebb.tick()

    assert ebb.remembered().breakers["a"].why == "default/again found no place after a drain"
    assert [line["severity"] for line in ebb.log.of("breaker")] == ["ERROR"]
    ebb.pass_time(minutes=1)
    assert ebb.tick()["orders"] == []
    assert summary["healed"] == 0, "the drained node stays with the autoscaler: its room would not help"


def test_a_cordon_that_the_autoscaler_cleared_is_set_again_and_the_node_is_not_given_back() -> None:
    ebb = house()
    begun(ebb)
    taken = ebb.cluster.nodes["n1"]
    ebb.pass_time(minutes=1)
    ebb.cluster.put(with_changes(taken, unschedulable=False))
    ebb.cluster.failed_deletions["n1"] = ebb.clock.now()

    ebb.pass_time(seconds=5)
    ebb.tick()
    (again,) = [each for each in ebb.bus.published if each.order_id == taken.drain_taint]
    assert again.kind is Kind.DRAIN
    assert ebb.deliver(again) is Reply.DONE

    assert ebb.cluster.nodes["n1"].unschedulable
    assert ebb.cluster.nodes["n1"].drain_taint == taken.drain_taint


def test_a_cordon_that_a_person_cleared_gives_the_node_back_for_a_day() -> None:
    ebb = house()
    begun(ebb)
    ebb.pass_time(minutes=1)
    ebb.cluster.put(with_changes(ebb.cluster.nodes["n1"], unschedulable=False))

    ebb.pass_time(seconds=5)
    ebb.tick()
    for each in [each for each in ebb.bus.published if each.kind is Kind.RELEASE]:
        assert ebb.deliver(each) is Reply.DONE

    assert ebb.cluster.nodes["n1"].drain_taint is None
    assert ebb.remembered().backoffs["uid-n1"].why == "overruled"


def test_every_line_of_a_pass_and_of_a_drain_names_the_policy_it_rests_on() -> None:
    ebb = house(policy=policy(cluster_wide={"hash": "abc"}))
    begun(ebb)

    passed = [line for line in ebb.log.lines if line["event"] in {"run_summary", "node_decision", "order_published"}]
    drained = [line for line in ebb.log.lines if line["event"] in {"drain_step", "eviction"}]
    assert {line["policy_hash"] for line in (*passed, *drained)} == {"abc"}
    assert {claim.policy_hash for claim in ebb.remembered().claims.values()} == {"abc"}
