"""More restarts that hang than a pass looks at: each has its turn, and those that nobody knows hide none."""

from shared.core.cluster.workloads import Deployment, Workload
from shared.core.healing.repairs import MOST
from shared.core.records.drain_record import DrainPhase, DrainRecord, Surge
from shared.core.records.orders import OrderKind
from shared.port_types import drain_key
from tests.builders import node, order, policy
from tests.functions.fake_ebb import FakeEbb

KNOWN, UNKNOWN = 25, 60


def hanging(ebb: FakeEbb, order_id: str) -> None:
    found = Deployment(
        name=f"default/Deployment/{order_id}", uid=f"uid-{order_id}", created=2, updated=1, generation=7, stamp=order_id
    )
    ebb.cluster.workloads[f"default/ReplicaSet/{order_id}"] = Workload(found.name, 1, 1, deployment=found)


def ended(ebb: FakeEbb, order_id: str) -> None:
    """Let a drain have ended that left its restart hanging."""
    now, name = ebb.clock.now(), f"default/Deployment/{order_id}"
    surges = {name: Surge(uid=f"uid-{order_id}", at=now, written=True, generation=6)}
    record = DrainRecord(
        order=order(order_id=order_id), phase=DrainPhase.SETTLED, node_uid="uid-n1", updated_at=now, surges=surges
    )
    ebb.state.put(drain_key(order_id), record, None)


def test_each_has_its_turn_within_the_hour_and_a_pass_publishes_a_few() -> None:
    ebb = FakeEbb(node("n1"), policy=policy())
    for number in range(UNKNOWN):
        hanging(ebb, f"a-{number:02}")
    known = [f"b-{number:02}" for number in range(KNOWN)]
    for order_id in known:
        hanging(ebb, order_id)
        ended(ebb, order_id)

    published: list[set[str]] = []
    for _ in range(6):
        before = len(ebb.bus.published)
        ebb.tick()
        ebb.pass_time(seconds=300)
        releases = [each for each in ebb.bus.published[before:] if each.kind is OrderKind.RELEASE]
        published.append({release.order_id for release in releases})

    assert set().union(*published) == set(known)
    assert all(len(each) <= MOST for each in published)
