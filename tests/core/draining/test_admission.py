from datetime import timedelta
from typing import Any

from shared.core.cluster.names import AUTOSCALER_CANDIDATE_TAINT, AUTOSCALER_DELETING_TAINT
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.core.cluster.workloads import mark
from shared.core.draining.admission import (
    exceeded_limits,
    needs_whole_snapshot,
    no_place,
    objections,
    refusal_of,
    room_was_claimed,
    still_reflects,
)
from shared.core.policy import Budget, Limit, Policy
from shared.core.reasons import DrainReason, Refusal
from shared.core.records.orders import Order, Origin
from shared.core.records.state import Backoff, Claim, ClusterState, Start
from shared.core.rules.situation import Situation
from tests.builders import NOW, claim, cluster, node, order, pod, policy, taint
from tests.depth import cases

PICTURE_AT = NOW - timedelta(seconds=60)
START = Start(PICTURE_AT, "a")


def ago(seconds: float, *, picture: float | None = 60) -> Claim:
    at = None if picture is None else NOW - timedelta(seconds=picture)
    return claim("n2", order_id="other", since=NOW - timedelta(seconds=seconds), picture_at=at)


@cases(
    "expected, given, claims",
    ("a young snapshot and nobody else", False, order(picture_at=PICTURE_AT), {}),
    ("a snapshot of two minutes ago", True, order(picture_at=NOW - timedelta(minutes=2)), {}),
    ("a snapshot to come", True, order(picture_at=NOW + timedelta(seconds=1)), {}),
    ("a person's order", True, order(origin=Origin.MANUAL), {}),
    ("a claim of the pass that moved none", False, order(picture_at=PICTURE_AT), {"n2": ago(4)}),
    ("a claim of the pass that may move pods", True, order(picture_at=PICTURE_AT), {"n2": ago(5)}),
    ("a stranger's claim since", True, order(picture_at=PICTURE_AT), {"n2": ago(4, picture=None)}),
    ("a stranger's claim of that very moment", True, order(picture_at=PICTURE_AT), {"n2": ago(60, picture=None)}),
    ("a claim that was counted", False, order(picture_at=PICTURE_AT), {"n2": ago(300, picture=300)}),
)
def test_a_proof_stands_until_pods_may_lie_elsewhere(expected: bool, given: Order, claims: dict[str, Claim]) -> None:
    assert needs_whole_snapshot(given, ClusterState(claims=claims), (), (), NOW) is expected


def waits(cpu: float = 1, *, minutes: float | None = 5, **spec: Any) -> Pod:
    since = None if minutes is None else NOW - timedelta(minutes=minutes)
    return pod("p", cpu=cpu, unschedulable_since=since, **spec)


@cases(
    "expected, waiting, nodes",
    ("a node could take it if it were empty", True, waits(), [node("n1", cpu=4)]),
    ("the scheduler has not yet looked", False, waits(minutes=None), [node("n1", cpu=4)]),
    ("larger than any node", False, waits(5), [node("n1", cpu=4)]),
    ("no node has its label", False, waits(node_selector={"gpu": "a100"}), [node("n1")]),
    ("only on a node that is cordoned", False, waits(), [node("n1", unschedulable=True)]),
    ("a DaemonSet's own pod", False, waits(owner="DaemonSet/agent"), [node("n1")]),
)
def test_a_pod_that_fits_nowhere_anyhow_asks_for_no_new_proof(expected: bool, waiting: Pod, nodes: list[Node]) -> None:
    young = order(picture_at=PICTURE_AT)

    assert needs_whole_snapshot(young, ClusterState(), (waiting,), nodes, NOW) is expected


@cases(
    "expected, before, after",
    ("nothing has happened", True, {}, {}),
    ("a drain that stood is counted by its place", True, {"n1": ago(300)}, {"n1": ago(300)}),
    ("one since that has moved no pod yet", True, {}, {"n1": ago(4)}),
    ("one since that may have moved pods", False, {}, {"n1": ago(5)}),
    ("the older of two", False, {}, {"n1": ago(4), "n2": ago(6)}),
    ("one that ended since", False, {"n1": ago(300)}, {}),
    ("one that ended since, and another in its place", False, {"n1": ago(300)}, {"n2": ago(4)}),
    ("its own", True, {}, {"n1": claim("n1", order_id="mine", since=NOW - timedelta(seconds=9))}),
)
def test_a_snapshot_is_shown_from_one_that_drains_have_outdated(
    expected: bool, before: dict[str, Claim], after: dict[str, Claim]
) -> None:
    taken_at = NOW - timedelta(seconds=10)

    assert still_reflects(ClusterState(claims=before), ClusterState(claims=after), taken_at, NOW, "mine") is expected


@cases(
    "expected, since, anew",
    ("the pass proved both together", False, ago(1), False),
    ("a stranger's", True, ago(1, picture=None), False),
    ("each proved for itself", True, ago(1), True),
)
def test_a_claim_that_the_proof_did_not_count_makes_it_void(expected: bool, since: Claim, anew: bool) -> None:
    ours = order(picture_at=PICTURE_AT)

    taken = room_was_claimed(ours, ClusterState(), ClusterState(claims={"n2": since}), proved_anew=anew)

    assert taken is expected


def test_the_drainers_own_proof_is_the_same_once_its_node_is_claimed() -> None:
    """Somebody may have been first since the state was read: that is told by the claim, not by the proof."""
    picture = cluster([node("n1"), node("n2")], [pod("p", on="n1", cpu=1)])
    claimed = ClusterState(claims={"uid-n1": claim("n1")})

    assert no_place(picture.node_by_name["n1"], Situation(picture, claimed, policy()), None) == ()


def test_all_limits_of_a_claim_that_are_exhausted_are_named() -> None:
    moves = pod("p", on="n1")
    state = ClusterState(claims={"uid-n2": claim("n2", moving_pods={mark(moves.spec.workload): 1})})
    situation = Situation(cluster([node("n1"), node("n2")], [moves]), state, policy(budgets=(Budget(Limit(count=0)),)))

    found = exceeded_limits(order(), situation.snapshot.nodes[0], situation, NOW)

    assert [blocker.reason.value for blocker in found] == ["budget", "workload_moving"]


@cases(
    "expected, key",
    ("the autoscaler has announced it", ["no_place_for_pods"], AUTOSCALER_CANDIDATE_TAINT),
    ("the autoscaler deletes it", ["no_place_for_pods"], AUTOSCALER_DELETING_TAINT),
    ("nobody takes it", [], ""),
)
def test_the_drainers_own_proof_keeps_room_for_what_the_autoscaler_moves(expected: list[str], key: str) -> None:
    nodes = [node("n1"), node("m1", taints=(taint(key, "PreferNoSchedule"),) if key else ()), node("n3")]
    pods = [pod("n", on="n1", cpu=1.5), pod("m", on="m1", cpu=1.5), pod("d", on="n3", cpu=2)]
    picture = cluster(nodes, pods)

    found = no_place(picture.node_by_name["n1"], Situation(picture, ClusterState(), policy()), None)

    assert [blocker.reason.value for blocker in found] == expected
    assert expected != ["not_empty"] or found[0].detail == "the order was for an empty node"


@cases(
    "expected, before, after",
    ("nobody came", False, ClusterState(), ClusterState()),
    ("a drain came and has ended", True, ClusterState(), ClusterState(last_scale_down=NOW)),
    ("a drain that the proof counted has ended", False,
     ClusterState(claims={"n2": ago(60, picture=300)}, starts=(START,)),
     ClusterState(starts=(START,), last_scale_down=START.at)),
)  # fmt: skip
def test_a_drain_that_came_and_ended_since_the_proof_makes_it_void(
    expected: bool, before: ClusterState, after: ClusterState
) -> None:
    assert room_was_claimed(order(picture_at=PICTURE_AT), before, after) is expected


HOLDS = claim("n1", order_id="another")


@cases(
    "expected, given, state, there",
    ("a young order for the node that is there", None, {}, ClusterState(), True),
    ("a person names the node alone", None, {"node_uid": ""}, ClusterState(), True),
    ("its own claim", None, {"order_id": "another"}, ClusterState(claims={"uid-n1": HOLDS}), True),
    ("no such node", Refusal.NODE_UNKNOWN, {}, ClusterState(), False),
    ("another of that name", Refusal.NODE_REPLACED, {"node_uid": "uid-old"}, ClusterState(), True),
    ("another's claim", Refusal.CLAIMED_BY_OTHER, {}, ClusterState(claims={"uid-n1": HOLDS}), True),
    ("at its end it has expired", Refusal.EXPIRED, {"expires_at": NOW}, ClusterState(), True),
)
def test_an_order_is_void_by_name(
    expected: Refusal | None, given: dict[str, Any], state: ClusterState, there: bool
) -> None:
    assert refusal_of(order(**given), node("n1") if there else None, state, NOW) is expected


FULL, LIGHT = pod("full", on="n1", cpu=3.5), pod("p", on="n1")
PERSONS = {"reason": DrainReason.MANUAL}


@cases(
    "expected, given, load, rules",
    ("nothing is against it", [], {}, LIGHT, policy()),
    ("the planner's own order asks for the ratio", ["cpu_above_limit"], {}, FULL, policy()),
    ("a person's does not", [], PERSONS, FULL, policy()),
    ("nor for marks", [], PERSONS, FULL, policy(consolidate_after=None)),
    ("but for all else", ["pool_disabled"], PERSONS, FULL, policy(enabled=False)),
    ("empty no more", ["not_empty"], {"reason": DrainReason.EMPTY}, LIGHT, policy()),
    ("expired or not, it is under-used", [], {"reason": DrainReason.EXPIRED}, LIGHT, policy()),
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
