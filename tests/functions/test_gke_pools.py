"""Pools that change under a drain: resized, deleted, no longer autoscaled; minimums at the moment of the claim."""

import sys
from datetime import timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from functions_framework import create_app

from functions.drainer.main import PushReply
from shared.core.cluster import names
from shared.core.cluster.autoscaling import AutoscalingPolicy, ComputeClasses
from shared.core.cluster.node import Node, NodePool
from shared.core.cluster.resources import NOTHING, Resources
from shared.core.policy import Policy
from shared.core.records.drain_record import DrainPhase
from shared.core.records.orders import Origin
from shared.errors import Retryable, Terminal
from tests.adapters.scripted import Say, scripted
from tests.builders import CLUSTER, node, order, pod, policy, resources
from tests.depth import cases
from tests.fakes import once
from tests.functions.drainer.one_drain import released
from tests.functions.fake_ebb import FakeEbb
from tests.functions.test_entry_points import ROOT, outside

FIRST, SECOND = order("n1", order_id="first", reason="empty"), order("n2", order_id="second", reason="empty")


def empty_nodes(
    rules: Policy | None = None, limits: NodePool | None = None, zones: str = "zzz", minimum: Resources = NOTHING
) -> FakeEbb:
    """Three empty nodes of four cores."""
    nodes = (node(f"n{index}", zone=zone) for index, zone in enumerate(zones, 1))
    ebb = FakeEbb(*nodes, policy=rules or policy(), a=limits or NodePool("a"))
    ebb.pools.minimum = minimum
    return ebb


@cases(
    "expected, made",
    ("the pool's total minimum", "pool_at_minimum", {"limits": NodePool("a", min_total=2)}),
    ("the zone's minimum", "pool_at_minimum", {"limits": NodePool("a", min_per_zone=1), "zones": "zzy"}),
    ("the autoscaler's minimum of cores", "resource_minimum", {"minimum": resources(8)}),
    ("minimumNodes", "minimum_nodes", {"rules": policy(cluster_wide={"minimum_nodes": 2})}),
    ("minimumNonTaintedNodes", "minimum_non_tainted_nodes",
     {"rules": policy(cluster_wide={"minimum_non_tainted_nodes": 2})}),
)  # fmt: skip
@cases("racing", ("after it", False), ("in the same moment", True))
def test_of_two_orders_that_would_break_a_minimum_together_one_is_refused(
    expected: str, made: dict[str, Any], *, racing: bool
) -> None:
    ebb = empty_nodes(**made)
    if racing:
        ebb.state.meanwhile["put", "cluster"] = once(lambda: ebb.drain(SECOND))  # between read and write of the claim
        ebb.drain(FIRST)
    else:
        ebb.drain(SECOND)
        ebb.drain(FIRST)

    assert [(line["node"], line["reason"]) for line in ebb.log.of("drain_result")] == [("n1", expected)]
    assert set(ebb.remembered().claims) == {"uid-n2"}
    assert ebb.cluster.nodes["n1"].drain_taint is None


@pytest.mark.acceptance(54)
def test_a_pool_at_its_minimum_is_not_cordoned_and_shows_why() -> None:
    ebb = empty_nodes(limits=NodePool("a", min_total=3))

    ebb.tick()
    ebb.drain(FIRST)

    assert (ebb.bus.published, ebb.effects()) == ([], [])
    assert {line["reason"] for line in ebb.log.of("node_decision")} == {"pool_at_minimum"}
    assert ebb.reasons("drain_result") == ["pool_at_minimum"]


@cases(
    "expected, pools",
    ("a person raises its minimum", "pool_at_minimum", {"a": NodePool("a", min_total=3)}),
    ("its autoscaling is switched off", "not_autoscaled", {"a": NodePool("a", autoscaled=False)}),
    ("an upgrade begins", "pool_upgrading", {"a": NodePool("a", upgrading=True)}),
    ("GKE reports it no longer", "pools_unknown", {}),
)
def test_what_becomes_of_a_pool_between_order_and_claim_refuses_the_order(
    expected: str, pools: dict[str, NodePool]
) -> None:
    ebb = empty_nodes()
    ebb.tick()
    ebb.pools.pools = pools

    ebb.deliver(ebb.bus.published[0])

    assert (ebb.reasons("drain_result"), ebb.effects()) == ([expected], [])


def test_a_pool_that_a_person_shrinks_meanwhile_counts_as_it_is_at_the_claim() -> None:
    ebb = empty_nodes(limits=NodePool("a", min_total=2))
    ebb.tick()
    del ebb.cluster.nodes["n3"]

    ebb.deliver(ebb.bus.published[0])

    assert ebb.reasons("drain_result") == ["pool_at_minimum"]


@cases("left", ("resized by a person", {"n2"}), ("deleted with its nodes", set()))
def test_nodes_that_go_with_a_resize_or_with_their_pool_are_settled_as_removed(left: set[str]) -> None:
    ebb = empty_nodes()
    ebb.drain(FIRST)
    ebb.cluster.nodes = {name: one_node for name, one_node in ebb.cluster.nodes.items() if name in left}
    if not left:
        ebb.pools.pools = {}

    ebb.pass_time(minutes=5)
    ebb.tick()

    record = ebb.record("first")
    assert (record.phase, record.outcome, ebb.remembered().claims) == (DrainPhase.SETTLED, "removed", {})


SENTENCE = f"{CLUSTER} is an Autopilot cluster: its nodes are Google's, which consolidates them itself"
AUTOPILOT = {"name": "c", "autopilot": {"enabled": True}}


def answered(target: str, body: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Post once to a function whose GKE API reports an Autopilot cluster."""
    with scripted() as gke:
        gke.says(Say(body=AUTOPILOT))
        for name, value in {**outside(tmp_path), "EBB_GKE_API": gke.address}.items():
            monkeypatch.setenv(name, value)
        app = create_app(target, str(ROOT / "main.py"))  # type: ignore[no-untyped-call]  # it publishes no types
        try:
            return app.test_client().post("/", json=body)
        finally:
            sys.modules.pop("main", None)


def test_a_pass_over_an_autopilot_cluster_is_a_500_with_the_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = answered("plan", {}, tmp_path, monkeypatch)

    assert answer.status_code == 500
    assert SENTENCE in answer.get_json()["error"]
    assert f"The pass cannot run: {SENTENCE}" in capsys.readouterr().out


def test_an_order_for_a_node_of_an_autopilot_cluster_touches_nothing_and_shows_why() -> None:
    ebb = FakeEbb(node("n1"), node("n2"))
    ebb.pools.failure = Terminal(f"{CLUSTER} is an Autopilot cluster", "its nodes are Google's")

    assert ebb.drain(order()) is PushReply.AGAIN

    assert (ebb.effects(), ebb.remembered().claims) == ([], {})
    (line,) = [line for line in ebb.log.of("drain_step") if line["severity"] == "ERROR"]
    assert "is an Autopilot cluster" in line["message"]


MINUTE = timedelta(minutes=1)
REAPER = AutoscalingPolicy(threshold=Fraction(0), delay=MINUTE)
PATIENT = AutoscalingPolicy(delay=60 * MINUTE)


def of_class(name: str, **changes: Any) -> Node:
    return node(name, labels={names.COMPUTE_CLASS_LABEL: "web"}, **changes)


def ebb_with(said: AutoscalingPolicy) -> FakeEbb:
    """Three nodes of a class, and one pod to move on n1."""
    ebb = FakeEbb(of_class("n1"), of_class("n2"), of_class("n3"), pod("p", on="n1"))
    ebb.cluster.classes = ComputeClasses({"web": said})
    return ebb


@pytest.mark.parametrize("origin", [Origin.PLANNER, Origin.MANUAL])
@cases(
    "minutes, said",
    ("a reaper's is late earlier", 11, REAPER),
    ("one that waits long is not late", 75, PATIENT),
    ("one that shows nothing is the profile's", 25, AutoscalingPolicy()),
)
def test_the_claim_waits_for_as_long_as_the_nodes_class_shows(
    minutes: int, said: AutoscalingPolicy, origin: Origin
) -> None:
    ebb = ebb_with(said)
    ebb.drain(order(origin=origin))

    (claim,) = ebb.remembered().claims.values()
    assert claim.settings.watchdog == minutes * MINUTE


def test_nothing_is_read_of_classes_for_a_node_of_none() -> None:
    ebb = FakeEbb(node("n1"), of_class("n2"), node("n3"), pod("p", on="n1"))
    ebb.drain(order())

    assert ebb.remembered().claims
    assert ("buffers",) not in ebb.cluster.calls


def test_an_order_comes_again_when_the_classes_do_not_answer() -> None:
    """Begun by the profile's delay, a drain would be given back long before its autoscaler looks."""
    ebb = ebb_with(PATIENT)
    ebb.cluster.failures["buffers"] = [Retryable("kubernetes", "timeout")]
    ebb.drain(order())
    assert not ebb.remembered().claims

    ebb.drain(order())
    assert len(ebb.remembered().claims) == 1


def test_a_reaper_that_may_count_daemon_sets_is_named_when_it_keeps_the_node() -> None:
    ebb = ebb_with(REAPER)
    ebb.cluster.put(pod("d", on="n1", owner="DaemonSet/d", cpu=0.1))
    ebb.drain(order())
    ebb.pass_time(minutes=12)
    ebb.deliver(released(origin=Origin.PLANNER, why="watchdog"))

    record = ebb.record()
    assert record.why == "watchdog"
    assert "if it counts DaemonSet pods there, it never deletes this one" in record.detail
