from datetime import timedelta
from typing import Any

import pytest

from shared.core.cluster.names import AUTOSCALER_CANDIDATE_TAINT, AUTOSCALER_DELETING_TAINT
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.draining.admission import (
    needs_whole_snapshot,
    no_place,
    objections,
    refusal_of,
    room_was_claimed,
    still_reflects,
)
from shared.core.policy import Policy
from shared.core.reasons import DrainReason, Refusal
from shared.core.records.orders import Order, Origin
from shared.core.records.state import Backoff, Claim, ClusterState, Start
from shared.core.rules.situation import Situation
from tests.builders import NOW, claim, cluster, node, order, pod, policy, taint

PICTURE_AT = NOW - timedelta(seconds=60)
START = Start(PICTURE_AT, "a")


def ago(seconds: float, *, picture: float | None = 60) -> Claim:
    at = None if picture is None else NOW - timedelta(seconds=picture)
    return claim("n2", order_id="other", since=NOW - timedelta(seconds=seconds), picture_at=at)


@pytest.mark.parametrize(
    ("expected", "given", "claims"),
    [
        pytest.param(False, order(picture_at=PICTURE_AT), {}, id="a young snapshot and nobody else"),
        pytest.param(True, order(picture_at=NOW - timedelta(minutes=2)), {}, id="a snapshot of two minutes ago"),
        pytest.param(True, order(picture_at=NOW + timedelta(seconds=1)), {}, id="a snapshot to come"),
        pytest.param(True, order(origin=Origin.MANUAL), {}, id="a person's order"),
        pytest.param(False, order(picture_at=PICTURE_AT), {"n2": ago(4)}, id="a claim of the pass that moved none"),
        pytest.param(True, order(picture_at=PICTURE_AT), {"n2": ago(5)}, id="a claim of the pass that may move pods"),
        pytest.param(True, order(picture_at=PICTURE_AT), {"n2": ago(4, picture=None)}, id="a stranger's claim since"),
        pytest.param(False, order(picture_at=PICTURE_AT), {"n2": ago(300, picture=300)}, id="a claim that was counted"),
    ],
)
def test_a_proof_stands_until_pods_may_lie_elsewhere(expected: bool, given: Order, claims: dict[str, Claim]) -> None:
    assert needs_whole_snapshot(given, ClusterState(claims=claims), (), (), NOW) is expected


def waits(cpu: float = 1, *, minutes: float | None = 5, **spec: Any) -> Pod:
    since = None if minutes is None else NOW - timedelta(minutes=minutes)
    return pod("p", cpu=cpu, unschedulable_since=since, **spec)


@pytest.mark.parametrize(
    ("expected", "waiting", "nodes"),
    [
        pytest.param(True, waits(), [node("n1", cpu=4)], id="a node could take it if it were empty"),
        pytest.param(False, waits(minutes=None), [node("n1", cpu=4)], id="the scheduler has not yet looked"),
        pytest.param(False, waits(5), [node("n1", cpu=4)], id="larger than any node"),
        pytest.param(False, waits(node_selector={"gpu": "a100"}), [node("n1")], id="no node has its label"),
        pytest.param(False, waits(), [node("n1", unschedulable=True)], id="only on a node that is cordoned"),
        pytest.param(False, waits(owner="DaemonSet/agent"), [node("n1")], id="a DaemonSet's own pod"),
    ],
)
def test_a_pod_that_fits_nowhere_anyhow_asks_for_no_new_proof(expected: bool, waiting: Pod, nodes: list[Node]) -> None:
    young = order(picture_at=PICTURE_AT)

    assert needs_whole_snapshot(young, ClusterState(), (waiting,), nodes, NOW) is expected


@pytest.mark.parametrize(
    ("expected", "before", "after"),
    [
        pytest.param(True, {}, {}, id="nothing has happened"),
        pytest.param(True, {"n1": ago(300)}, {"n1": ago(300)}, id="a drain that stood is counted by its place"),
        pytest.param(True, {}, {"n1": ago(4)}, id="one since that has moved no pod yet"),
        pytest.param(False, {}, {"n1": ago(5)}, id="one since that may have moved pods"),
        pytest.param(False, {}, {"n1": ago(4), "n2": ago(6)}, id="the older of two"),
        pytest.param(False, {"n1": ago(300)}, {}, id="one that ended since"),
        pytest.param(False, {"n1": ago(300)}, {"n2": ago(4)}, id="one that ended since, and another in its place"),
        pytest.param(True, {}, {"n1": claim("n1", order_id="mine", since=NOW - timedelta(seconds=9))}, id="its own"),
    ],
)
def test_a_snapshot_is_shown_from_one_that_drains_have_outdated(
    expected: bool, before: dict[str, Claim], after: dict[str, Claim]
) -> None:
    taken_at = NOW - timedelta(seconds=10)

    assert still_reflects(ClusterState(claims=before), ClusterState(claims=after), taken_at, NOW, "mine") is expected


@pytest.mark.parametrize(
    ("expected", "since", "anew"),
    [
        pytest.param(False, ago(1), False, id="the pass proved both together"),
        pytest.param(True, ago(1, picture=None), False, id="a stranger's"),
        pytest.param(True, ago(1), True, id="each proved for itself"),
    ],
)
def test_a_claim_that_the_proof_did_not_count_makes_it_void(expected: bool, since: Claim, anew: bool) -> None:
    ours = order(picture_at=PICTURE_AT)

    taken = room_was_claimed(ours, ClusterState(), ClusterState(claims={"n2": since}), proved_anew=anew)

    assert taken is expected


def test_the_drainers_own_proof_is_the_same_once_its_node_is_claimed() -> None:
    """Somebody may have been first since the state was read: that is told by the claim, not by the proof."""
    picture = cluster([node("n1"), node("n2")], [pod("p", on="n1", cpu=1)])
    claimed = ClusterState(claims={"uid-n1": claim("n1")})

    assert no_place(picture.node_by_name["n1"], Situation(picture, claimed, policy())) == ()


@pytest.mark.parametrize(
    ("expected", "key"),
    [
        pytest.param(["no_place_for_pods"], AUTOSCALER_CANDIDATE_TAINT, id="the autoscaler has announced it"),
        pytest.param(["no_place_for_pods"], AUTOSCALER_DELETING_TAINT, id="the autoscaler deletes it"),
        pytest.param([], "", id="nobody takes it"),
    ],
)
def test_the_drainers_own_proof_keeps_room_for_what_the_autoscaler_moves(expected: list[str], key: str) -> None:
    nodes = [node("n1"), node("m1", taints=(taint(key, "PreferNoSchedule"),) if key else ()), node("n3")]
    pods = [pod("n", on="n1", cpu=1.5), pod("m", on="m1", cpu=1.5), pod("d", on="n3", cpu=2)]
    picture = cluster(nodes, pods)

    found = no_place(picture.node_by_name["n1"], Situation(picture, ClusterState(), policy()))

    assert [blocker.reason.value for blocker in found] == expected
    assert expected != ["not_empty"] or found[0].detail == "the order was for an empty node"


@pytest.mark.parametrize(
    ("expected", "before", "after"),
    [
        pytest.param(False, ClusterState(), ClusterState(), id="nobody came"),
        pytest.param(True, ClusterState(), ClusterState(last_scale_down=NOW), id="a drain came and has ended"),
        pytest.param(
            False,
            ClusterState(claims={"n2": ago(60, picture=300)}, starts=(START,)),
            ClusterState(starts=(START,), last_scale_down=START.at),
            id="a drain that the proof counted has ended",
        ),
    ],
)
def test_a_drain_that_came_and_ended_since_the_proof_makes_it_void(
    expected: bool, before: ClusterState, after: ClusterState
) -> None:
    assert room_was_claimed(order(picture_at=PICTURE_AT), before, after) is expected


HOLDS = claim("n1", order_id="another")


@pytest.mark.parametrize(
    ("expected", "given", "state", "there"),
    [
        pytest.param(None, {}, ClusterState(), True, id="a young order for the node that is there"),
        pytest.param(None, {"node_uid": ""}, ClusterState(), True, id="a person names the node alone"),
        pytest.param(None, {"order_id": "another"}, ClusterState(claims={"uid-n1": HOLDS}), True, id="its own claim"),
        pytest.param(Refusal.NODE_UNKNOWN, {}, ClusterState(), False, id="no such node"),
        pytest.param(Refusal.NODE_REPLACED, {"node_uid": "uid-old"}, ClusterState(), True, id="another of that name"),
        pytest.param(Refusal.CLAIMED_BY_OTHER, {}, ClusterState(claims={"uid-n1": HOLDS}), True, id="another's claim"),
        pytest.param(Refusal.EXPIRED, {"expires_at": NOW}, ClusterState(), True, id="at its end it has expired"),
    ],
)
def test_an_order_is_void_by_name(
    expected: Refusal | None, given: dict[str, Any], state: ClusterState, there: bool
) -> None:
    assert refusal_of(order(**given), node("n1") if there else None, state, NOW) is expected


FULL, LIGHT = pod("full", on="n1", cpu=3.5), pod("p", on="n1")
PERSONS = {"reason": DrainReason.MANUAL}


@pytest.mark.parametrize(
    ("expected", "given", "load", "rules"),
    [
        pytest.param([], {}, LIGHT, policy(), id="nothing is against it"),
        pytest.param(["cpu_above_limit"], {}, FULL, policy(), id="the planner's own order asks for the ratio"),
        pytest.param([], PERSONS, FULL, policy(), id="a person's does not"),
        pytest.param([], PERSONS, FULL, policy(consolidate_after=None), id="nor for marks"),
        pytest.param(["pool_disabled"], PERSONS, FULL, policy(enabled=False), id="but for all else"),
        pytest.param(["not_empty"], {"reason": DrainReason.EMPTY}, LIGHT, policy(), id="empty no more"),
        pytest.param([], {"reason": DrainReason.EXPIRED}, LIGHT, policy(), id="expired or not, it is under-used"),
    ],
)
def test_the_planners_rules_are_asked_again(
    expected: list[str], given: dict[str, Any], load: Pod, rules: Policy
) -> None:
    """Except for a back-off, of which the claim asks."""
    resting = ClusterState(backoffs={"uid-n1": Backoff("n1", NOW + timedelta(hours=1), timedelta(hours=1), "deadline")})
    picture = cluster([node("n1"), node("n2")], [load])

    found = objections(order(**given), picture.nodes[0], Situation(picture, resting, rules))

    assert [objection.reason.value for objection in found] == expected
    assert expected != ["not_empty"] or found[0].detail == "the order was for an empty node"
