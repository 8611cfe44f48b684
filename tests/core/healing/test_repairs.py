from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec import UNSET

from shared.core.cluster.names import OUR_ANNOTATION
from shared.core.cluster.node import NodePool
from shared.core.cluster.pod import Pod
from shared.core.cluster.snapshot import Snapshot
from shared.core.cluster.workloads import Deployment, Workload
from shared.core.healing.healing_input import HealingInput, Repair, RepairKind
from shared.core.healing.repairs import LOOKED_FOR, MOST, MOST_REFUSED, find_repairs, hanging, in_turn, restart_repairs
from shared.core.reasons import ReturnReason
from shared.core.records.drain_record import DrainPhase, DrainRecord, PodProgress, Surge
from shared.core.records.state import ClusterState, Lease
from tests.builders import NOW, buffer, claim, cluster, held, node, order, our_taint, pod, policy
from tests.depth import cases

BEFORE = NOW - timedelta(minutes=30)
DEAD = Lease("step", NOW - timedelta(seconds=1))
ALIVE = Lease("step", NOW + timedelta(seconds=20))


def inputs(
    picture: Snapshot, record: DrainRecord | None = None, *, claimed: bool = True, **changes: Any
) -> HealingInput:
    is_left = record is not None and record.phase is DrainPhase.DRAINED
    claims = {"uid-n1": claim("n1", since=BEFORE, drained=is_left or UNSET)} if claimed else {}
    records = {"order": record} if record else {}
    given: dict[str, Any] = {"state": ClusterState(claims=claims), "policy": policy(), **changes}
    return HealingInput(snapshot=picture, records=records, now=NOW, **given)


def drain(phase: str, lease: Lease | None = DEAD, **changes: Any) -> DrainRecord:
    given: dict[str, Any] = {"order": order(), "node_uid": "uid-n1", **changes}
    return DrainRecord(phase=DrainPhase(phase), lease=lease, **given)


def left(drained_at: datetime = NOW, **changes: Any) -> DrainRecord:
    """A drain whose node is left to the autoscaler; nobody has a lease of it."""
    return drain("drained", None, drained_at=drained_at, **changes)


def ours(**changes: Any) -> Snapshot:
    return cluster([node("n1", unschedulable=True, taints=(our_taint(),), **changes)])


def repair(kind: RepairKind, why: ReturnReason | None = None, detail: str = "") -> Repair:
    return Repair(kind, "uid-n1", "n1", "order", why, detail)


def released(why: ReturnReason, detail: str = "") -> list[Repair]:
    return [repair(RepairKind.RELEASE, why, detail)]


def unwatched(record: DrainRecord) -> HealingInput:
    """The step that noted the node as drained never wrote so into the claim."""
    return inputs(ours(), record, state=ClusterState(claims={"uid-n1": claim("n1", since=BEFORE)}))


def upgrading(picture: Snapshot, *older: str) -> Snapshot:
    """The pool is upgraded to 1.34.1; other nodes have the older versions."""
    others = (node(version, version=version, unschedulable=True) for version in older)
    pools = {"a": NodePool("a", upgrading=True, version="1.34.1")}
    return replace(picture, nodes=(*picture.nodes, *others), pools=pools)


def wanted(picture: Snapshot, minutes: float = 0) -> Snapshot:
    return replace(picture, pods=(pod("p", unschedulable_since=NOW - timedelta(minutes=minutes)),))


def two_held(*pods: Pod) -> HealingInput:
    """n1 waits for the upgrade of its pool, n2 is done; n3 is open and full. A pod has waited for n1 for an hour."""
    long = pod("long", cpu=3, node_selector={"team": "x"}, unschedulable_since=NOW - timedelta(hours=1))
    nodes = [
        node(name, version=version, unschedulable=True, taints=(our_taint(name),), labels={"team": team})
        for name, version, team in (("n1", "8", "x"), ("n2", "9", "y"))
    ]
    picture = cluster([*nodes, node("n3", pool="b")], [long, *pods])
    pools = {"a": NodePool("a", upgrading=True, version="9"), "b": NodePool("b")}
    claims = {row.uid: claim(row.name, since=BEFORE, drained=True, order_id=row.name) for row in nodes}
    records = {row.name: left(order=order(row.name, order_id=row.name), node_uid=row.uid) for row in nodes}
    return HealingInput(replace(picture, pools=pools), ClusterState(claims=claims), records, policy(), NOW)


@cases(
    "expected, pods",
    ("alone", ["n1"], []),
    ("another", ["n1", "n2"], [pod("new", cpu=3.9, unschedulable_since=NOW), pod("full", on="n3", cpu=3.9)]),
    ("one that preempts", ["n1", "n2"],
     [pod("low", on="n3", cpu=3, deleting=NOW + timedelta(seconds=30)),
      pod("high", cpu=3, priority=9, unschedulable_since=NOW, nominated="n3")]),
)  # fmt: skip
def test_what_waits_for_a_node_of_an_upgrade_for_long_is_hidden_by_no_other_demand(
    expected: list[str], pods: list[Pod]
) -> None:
    assert [any_pod.node for any_pod in find_repairs(two_held(*pods))] == expected


LACKING = held(buffer("web"))
MAINTAINED = frozenset({"DrainInProgress"})
DRAINED_AT = NOW - timedelta(minutes=25)


@cases(
    "expected, patient",
    ("a living step is left alone", [], inputs(ours(), drain("cordoned", ALIVE))),
    ("a step past its lease goes on with the next generation",
     [repair(RepairKind.CONTINUE, detail="silent in phase cordoned")], inputs(ours(), drain("cordoned"))),
    ("so does one that was lost when it had drained the node",
     [repair(RepairKind.CONTINUE, detail="silent before its claim was drained")],
     unwatched(drain("drained", drained_at=NOW))),
    ("one that watches is left alone", [], unwatched(drain("drained", ALIVE, drained_at=NOW))),
    ("its next message may be on its way", [], unwatched(left(updated_at=NOW - timedelta(seconds=59)))),
    ("one that has left needs no step", [], inputs(ours(), drain("drained", drained_at=NOW))),
    ("long past its deadline it is returned, whether its steps live or not",
     released(ReturnReason.DEADLINE, "no step could end the drain"),
     inputs(ours(), drain("cordoned", ALIVE, deadline=DRAINED_AT))),
    ("its steps have had as long as a drained node's autoscaler has", [],
     inputs(ours(), drain("cordoned", ALIVE, deadline=DRAINED_AT + timedelta(seconds=1)))),
    ("the watchdog waits for no message", released(ReturnReason.WATCHDOG), unwatched(left(DRAINED_AT))),
    ("the node is gone", [repair(RepairKind.SETTLE)], inputs(cluster([]), drain("drained"))),
    ("another node has the name", [repair(RepairKind.SETTLE)],
     inputs(cluster([node("n1", uid="uid-other")]), drain("drained"))),
    ("the autoscaler has time left", [], inputs(ours(), left(DRAINED_AT + timedelta(seconds=1)))),
    ("the watchdog fires", released(ReturnReason.WATCHDOG), inputs(ours(), left(DRAINED_AT))),
    ("a node that was drained long after the drain's deadline gets no second watchdog", released(ReturnReason.WATCHDOG),
     inputs(ours(), left(deadline=DRAINED_AT))),
    ("it has what is left of one", [], inputs(ours(), left(deadline=DRAINED_AT + timedelta(seconds=1)))),
    ("not while its pool is upgraded: the cordon may be GKE's as well", [],
     inputs(upgrading(ours()), left(DRAINED_AT))),
    ("but no longer than twice its time", released(ReturnReason.WATCHDOG),
     inputs(upgrading(ours()), left(NOW - timedelta(minutes=50)))),
    ("nor where the node has its new version", released(ReturnReason.WATCHDOG),
     inputs(upgrading(ours(version="1.34.1"), "1.33.9"), left(DRAINED_AT))),
    ("demand returns", released(ReturnReason.DEMAND, "default/p"), inputs(wanted(ours()), left())),
    ("a buffer has room nowhere else", released(ReturnReason.BUFFER, "default/web"),
     inputs(replace(ours(), buffers=LACKING), left())),
    ("pods come before buffers", released(ReturnReason.DEMAND, "default/p"),
     inputs(replace(wanted(ours()), buffers=LACKING), left())),
    ("while its pool is upgraded the node is no room for it", [], inputs(upgrading(wanted(ours())), left())),
    ("until it has waited for ten minutes", released(ReturnReason.DEMAND, "default/p"),
     inputs(upgrading(wanted(ours(), minutes=10)), left())),
    ("where the node has its new version it is room at once", released(ReturnReason.DEMAND, "default/p"),
     inputs(upgrading(wanted(ours(version="1.34.1")), "1.33.9"), left())),
    ("while somebody works on the node it is no room either: our cordon holds it for them, too", [],
     inputs(wanted(ours(conditions=MAINTAINED)), left())),
    ("nor is it for a buffer", [], inputs(replace(ours(conditions=MAINTAINED), buffers=LACKING), left())),
    ("a person freed a drained node", released(ReturnReason.OVERRULED), inputs(cluster([node("n1")]), left())),
    ("the autoscaler failed to delete it and left the cordon", [],
     inputs(ours(), left(cordoned_at=BEFORE), begun_deletions={"n1": NOW})),
    ("it failed and took the cordon away", [repair(RepairKind.CONTINUE, detail="uncordoned by the autoscaler")],
     inputs(cluster([node("n1", taints=(our_taint(),))]), left(cordoned_at=BEFORE), begun_deletions={"n1": NOW})),
    ("a pause gives drained nodes back", released(ReturnReason.PAUSED, "paused"),
     inputs(ours(), left(), policy=policy(cluster_wide={"paused": True}))),
    ("a claim without a record", released(ReturnReason.ORPHAN, "no record of the drain can be read"), inputs(ours())),
    ("a record that ended while its claim stands", released(ReturnReason.ORPHAN, "the drain had already ended"),
     inputs(ours(), drain("settled"))),
    ("our taint without a claim", released(ReturnReason.ORPHAN), inputs(ours(), claimed=False)),
    ("a taint as young as the snapshot may have a claim we have not read", [],
     inputs(ours(annotations={OUR_ANNOTATION: f'{{"since": "{NOW.isoformat()}"}}'}), claimed=False)),
    ("a scribbled annotation does not hide an orphan", released(ReturnReason.ORPHAN),
     inputs(ours(annotations={OUR_ANNOTATION: "scribble"}), claimed=False)),
    ("a person's cordon is not ours", [], inputs(cluster([node("n1", unschedulable=True)]), claimed=False)),
    ("healing goes on without a policy", released(ReturnReason.ORPHAN), inputs(ours(), claimed=False, policy=None)),
)  # fmt: skip
def test_each_sick_claim_or_node_has_one_cure(expected: list[Repair], patient: HealingInput) -> None:
    assert expected == list(find_repairs(patient))


@cases(
    "expected, moved",
    ("the scheduler has ended others for it", NOW + timedelta(seconds=35), "default/ReplicaSet/other"),
    ("not where we have moved pods of its workload", None, "default/ReplicaSet/web"),
)
def test_a_release_for_a_pod_that_preempts_others_elsewhere_waits_for_their_end(
    expected: datetime | None, moved: str
) -> None:
    ends = pod("ends", on="n2", cpu=3, deleting=NOW + timedelta(seconds=30))
    waits = pod("p", cpu=2, owner="ReplicaSet/web", priority=1, nominated="n2", unschedulable_since=NOW)
    rows = {"default/old": PodProgress(uid="u", answer="granted", owner=moved, at=NOW)}
    picture = cluster([*ours().nodes, node("n2")], [ends, waits])

    (found,) = find_repairs(inputs(picture, drain("drained", ALIVE, drained_at=NOW, pods=rows)))

    assert (found.kind, found.why, found.not_before) == (RepairKind.RELEASE, ReturnReason.DEMAND, expected)


def test_a_rule_that_fails_by_a_fault_of_ebb_hides_no_other_rule() -> None:
    odd = inputs(ours(), left(DRAINED_AT), policy=object())

    assert [(any_repair.kind, any_repair.why) for any_repair in find_repairs(odd)] == [
        (RepairKind.FAULT, None),
        (RepairKind.RELEASE, ReturnReason.WATCHDOG),
    ]


def test_what_is_found_of_a_claim_has_the_pool_of_the_claim() -> None:
    claims = {"uid-n1": claim("n1", pool="b", since=BEFORE)}
    (found,) = find_repairs(inputs(cluster([]), state=ClusterState(claims=claims)))
    assert (found.kind, found.pool) == (RepairKind.SETTLE, "b")


def test_a_claim_younger_than_the_snapshot_is_left_for_the_next_pass() -> None:
    young = ClusterState(claims={"uid-n1": claim("n1", since=NOW)})

    assert find_repairs(inputs(cluster([]), drain("drained"), state=young)) == ()


def test_a_state_that_was_lost_entirely_gives_every_node_of_ours_back() -> None:
    nodes = [node(f"n{index}", unschedulable=True, taints=(our_taint(f"o{index}"),)) for index in range(3)]

    found = find_repairs(inputs(cluster(nodes), claimed=False))

    assert [(row.node, row.order_id, row.why) for row in found] == [
        (f"n{index}", f"o{index}", ReturnReason.ORPHAN) for index in range(3)
    ]


def test_while_a_pod_waits_no_second_node_is_returned_for_a_buffer() -> None:
    nodes = [node(f"n{number}", unschedulable=True, taints=(our_taint(f"o{number}"),)) for number in (1, 2)]
    seen = replace(cluster(nodes, [pod("p", unschedulable_since=NOW)]), buffers=held(buffer("web", 2, cpu=3)))
    claims = {f"uid-n{number}": claim(f"n{number}", order_id=f"o{number}", since=BEFORE) for number in (1, 2)}
    records = {f"o{number}": left(order=order(f"n{number}", order_id=f"o{number}")) for number in (1, 2)}
    given = HealingInput(seen, ClusterState(claims=claims), records, policy(), NOW)

    assert [any_repair.why for any_repair in find_repairs(given) if any_repair.kind is RepairKind.RELEASE] == [
        ReturnReason.DEMAND
    ]


WAITS = Deployment(name="default/Deployment/web", uid="u", created=2, updated=1, stamp="order")
COPY = replace(WAITS, name="default/Deployment/web-copy", uid="v")
FREE = ClusterState()


def workloads(*deployments: Deployment) -> dict[str, Workload]:
    return {deployment.name: Workload(deployment.name, 1, 1, deployment=deployment) for deployment in deployments}


def seen(*deployments: Deployment) -> Snapshot:
    return cluster([node("n1")], workloads=workloads(*deployments))


def settled(picture: Snapshot, surge: Surge) -> HealingInput:
    """A drain has ended, and has restarted the Deployment."""
    record = drain("settled", None, updated_at=NOW, surges={WAITS.name: surge})
    return inputs(picture, record, state=FREE)


@cases(
    "expected, stamp, state",
    ("a drain's", {"order"}, "order", FREE),
    ("one that is at work", set(), "order", ClusterState(claims={"uid-n1": claim("n1")})),
    ("nobody's", set(), "", FREE),
    ("longer than any id", set(), "x" * 2000, FREE),
    ("no id", set(), "../order", FREE),
)
def test_only_what_may_be_an_orders_id_is_looked_for(expected: set[str], stamp: str, state: ClusterState) -> None:
    assert set(hanging(workloads(replace(WAITS, stamp=stamp)).values(), state)) == expected


@pytest.mark.parametrize("deployments", [(WAITS, COPY), (COPY, WAITS)], ids=["the copy last", "the copy first"])
def test_a_copy_of_a_deployment_hides_none_that_hangs(deployments: tuple[Deployment, ...]) -> None:
    (repair,) = restart_repairs(settled(seen(*deployments), Surge(uid="u", at=NOW)))

    assert repair.detail.startswith(f"{WAITS.name} ")


@cases(
    "expected, surge",
    ("never looked at since", 1, Surge(uid="u", at=NOW)),
    ("changed since the look", 1, Surge(uid="u", at=NOW, looked_at=6)),
    ("not changed since", 0, Surge(uid="u", at=NOW, looked_at=7)),
    ("another has its name", 0, Surge(uid="v", at=NOW)),
    ("refused, but not often", 1, Surge(uid="u", at=NOW, refused=MOST_REFUSED - 1)),
    ("refused too often", 0, Surge(uid="u", at=NOW, refused=MOST_REFUSED)),
)
def test_a_release_is_published_only_where_it_may_have_an_effect(expected: int, surge: Surge) -> None:
    found = settled(seen(replace(WAITS, generation=7)), surge)

    assert len(list(restart_repairs(found))) == expected


INTERVAL = timedelta(minutes=5)


@pytest.mark.parametrize("count", [1, MOST, MOST + 1, 2 * MOST, 25, 100, 12 * MOST])
@pytest.mark.parametrize("late", [(0, 0, 0), (-20, 30, 2), (140, -140, 0)], ids=["on time", "about on time", "far off"])
def test_every_stamp_has_its_turn_within_the_hour_and_a_pass_reads_a_few(count: int, late: tuple[int, ...]) -> None:
    found = [f"drain-{number}" for number in range(count)]
    passes = int(LOOKED_FOR / INTERVAL)

    turns = [
        in_turn(found, NOW + number * INTERVAL + timedelta(seconds=late[number % len(late)]), INTERVAL)
        for number in range(passes)
    ]

    assert {order_id for turn in turns for order_id in turn} == set(found)
    assert all(len(turn) == len(set(turn)) <= MOST for turn in turns)


def test_where_nothing_hangs_nobody_has_a_turn() -> None:
    assert in_turn((), NOW, INTERVAL) == ()
