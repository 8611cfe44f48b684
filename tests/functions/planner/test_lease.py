"""A pass that was frozen past its lease writes nothing over what the next one has written, and orders nothing."""

from datetime import timedelta

import pytest

from functions.planner.lease import MOST_FINISHED, PlannerLease
from shared.core.records.state import Mark
from shared.errors import Stale
from tests.builders import node, policy
from tests.depth import cases
from tests.fakes import once
from tests.functions.fake_ebb import FakeEbb
from tests.functions.planner.half_empty_nodes import MINUTE, fake_ebb, marks
from tests.functions.test_waves import ebb_with_room

WAITS = policy(consolidate_after=timedelta(minutes=30))
FROZEN = 7
"""Minutes: longer than the lease, and not so long that marks begin again."""
JUST_BEFORE_ITS_WRITE = (("get", "pools"), ("put", "pools"))


def freeze(ebb: FakeEbb) -> None:
    ebb.pass_time(minutes=FROZEN)


def marks_after_a_frozen_pass(ebb: FakeEbb, *calls: tuple[str, str], comes: str = "") -> dict[str, Mark]:
    """Freeze a pass that sees n4 at one of these calls; meanwhile n4 goes, another node comes, and a pass is made."""
    ebb.cluster.put(node("n4"))

    def overtake() -> None:
        del ebb.cluster.nodes["n4"]
        ebb.cluster.put(*(node(name) for name in (comes,) if name))
        freeze(ebb)
        ebb.tick("other")

    ebb.state.meanwhile |= dict.fromkeys(calls, once(overtake))
    with pytest.raises(Stale):
        ebb.tick("frozen")
    return marks(ebb)


def test_a_pass_whose_lease_is_over_leaves_marks_as_they_are() -> None:
    ebb = fake_ebb(policy=WAITS)
    ebb.tick()
    before = marks(ebb)

    assert marks_after_a_frozen_pass(ebb, ("all", "pools")) == before


def test_marks_are_written_on_the_version_that_was_read_with_them() -> None:
    ebb = fake_ebb(policy=WAITS)
    ebb.tick()

    found = marks_after_a_frozen_pass(ebb, *JUST_BEFORE_ITS_WRITE, comes="n5")

    assert sorted(found) == ["uid-n1", "uid-n2", "uid-n3", "uid-n5"]


def test_marks_that_a_pass_wrote_after_its_lease_begin_again() -> None:
    """The pass in between had nothing to write: what it saw is not in the document."""
    ebb = fake_ebb(policy=WAITS)
    ebb.tick()

    assert marks_after_a_frozen_pass(ebb, *JUST_BEFORE_ITS_WRITE) == {}


@cases(
    "call",
    ("as it takes its lease", ("put", "cluster")),
    ("as it writes marks", ("put", "pools")),
    ("later", ("put", "waves")),
)
def test_a_pass_whose_lease_is_over_orders_no_drain(call: tuple[str, str]) -> None:
    ebb = ebb_with_room()
    ebb.state.meanwhile[call] = once(lambda: freeze(ebb))

    with pytest.raises(Stale):
        ebb.tick()

    assert [sent for sent in ebb.bus.published if sent.node] == []
    assert ebb.remembered().published == {}
    assert ebb.remembered().last_pass is None


def test_a_run_that_ends_after_its_lease_is_noted_and_leaves_the_lease_of_the_next() -> None:
    ebb = fake_ebb()
    first, second = (PlannerLease(ebb.state, ebb.clock, owner) for owner in ("first", "second"))
    assert first.take(MINUTE, "1")
    freeze(ebb)
    assert second.take(MINUTE, "2")

    for run in range(MOST_FINISHED + 1):
        first.end(finished=str(run))

    assert ebb.remembered().finished == tuple(str(run) for run in range(1, MOST_FINISHED + 1))
    assert not first.take(MINUTE, "new"), "the second lives"
    freeze(ebb)
    assert [first.take(MINUTE, run) for run in ("1", "new")] == [False, True]
