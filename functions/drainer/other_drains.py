"""What the other drains have moved, read only where one of them may have to give its node back. Must not judge."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from functions.drainer import shared_snapshots as pictures
from functions.drainer.session import Desk
from shared.core.draining.observation import OtherDrain, Others, Scene
from shared.core.records.state import Claim
from shared.errors import Unreadable
from shared.ports import drain_key
from shared.store.compare_and_set import read_cluster


def with_others(desk: Desk, scene: Scene) -> Scene:
    """Return the scene with the other drains in it, and what stands behind the pods that they have moved.

    Raises:
        Retryable: a document or a workload cannot be read.
    """
    state, _, _ = read_cluster(desk.ports.state)
    drains = tuple(_others(desk, state.claims))
    theirs = {controller for each in drains for controller in each.record.before}
    seen, _ = pictures.workloads(desk.ports, theirs - scene.workloads.keys(), desk.time.now())
    others = Others(drains, tuple(state.backoffs.values()))
    return replace(scene, others=others, workloads={**seen, **scene.workloads})


def _others(desk: Desk, claims: Mapping[str, Claim]) -> Iterator[OtherDrain]:
    """Read the records of the other claims; one that cannot be read has nobody who could give its node back."""
    for uid, claim in claims.items():
        if uid == desk.ledger.record.node_uid:
            continue
        try:
            record = desk.ports.state.get(drain_key(claim.order_id)).value
        except Unreadable:
            continue
        if record is not None:
            yield OtherDrain(claim.since, record)
