"""A replacement whose claim is for one pod at a time waits for its predecessor's end, and only then for a place."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace as changed

from shared.core.cluster.pod import Phase
from shared.core.cluster.storage import READ_WRITE_ONCE, READ_WRITE_ONCE_POD
from tests.builders import mounts, order, pdb, persistent_volume, pod, storage, volume_claim
from tests.functions.drainer.one_drain import WEB, fake_ebb, holder
from tests.functions.drainer.test_drainer_replacements import waiting
from tests.functions.fake_ebb import FakeEbb

CLAIMING = replace(WEB, volumes=mounts("data"))
GRACE = 90


def one_drain(mode: str, *, bound_after: float | None, step_seconds: float = 480) -> FakeEbb:
    """`p` takes its whole grace to end; its replacement comes at once, and finds no node before that end."""
    kept = pod("p", on="n1", kind=replace(WEB, grace_seconds=GRACE))
    ebb = fake_ebb(kept, pdb("web", app="web"), step_seconds=step_seconds)
    ebb.cluster.storage_held = storage(volume_claim("data", access_modes=(mode,)), persistent_volume("pv-data"))
    ended: list[datetime] = []

    def look() -> None:
        old, new = ebb.cluster.pods.get("default/p"), ebb.cluster.pods.get("default/new")
        if old is not None and old.deleting and new is None:
            ebb.cluster.put(changed(old, spec=replace(old.spec, volumes=CLAIMING.volumes)))
            ebb.cluster.put(changed(waiting(ebb), spec=CLAIMING))
        if old is None:
            ended.append(ebb.clock.now())
            if new and bound_after is not None and ebb.clock.now() - ended[0] >= timedelta(seconds=bound_after):
                ebb.cluster.put(changed(new, node="n2", phase=Phase.RUNNING, unschedulable_since=None))

    ebb.clock.moves.append(look)
    return ebb


@pytest.mark.parametrize("step_seconds", [15, 25, 480])
@pytest.mark.parametrize("bound_after", [0, 15])
def test_the_end_of_its_predecessor_is_no_place_to_wait_for(bound_after: float, step_seconds: float) -> None:
    ebb = one_drain(READ_WRITE_ONCE_POD, bound_after=bound_after, step_seconds=step_seconds)

    ebb.drain(order())
    ebb.carry_on()

    assert ebb.reasons("drain_result") == []
    assert holder(ebb) == "order"
    assert ebb.cluster.pods["default/new"].node == "n2"


def test_from_that_end_on_it_waits_for_a_place_as_any_other() -> None:
    ebb = one_drain(READ_WRITE_ONCE_POD, bound_after=None)

    ebb.drain(order())
    ebb.carry_on()

    assert (holder(ebb), ebb.reasons("drain_result")) == (None, ["replacement_pending"])
    since = ebb.cluster.pods["default/new"].unschedulable_since
    assert since is not None
    assert GRACE + 15 <= (ebb.clock.now() - since).total_seconds() <= GRACE + 30


def test_a_claim_that_several_pods_may_use_keeps_nobody_waiting() -> None:
    ebb = one_drain(READ_WRITE_ONCE, bound_after=0)

    ebb.drain(order())
    ebb.carry_on()

    assert (holder(ebb), ebb.reasons("drain_result")) == (None, ["replacement_pending"])
