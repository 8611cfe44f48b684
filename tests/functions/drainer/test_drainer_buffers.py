"""What the drainer does where capacity buffers hold room: it reads them, and gives back what they lose. On fakes."""

from dataclasses import replace

from functions.drainer.main import PushReply
from shared.core.cluster.autoscaling import Buffers
from tests.builders import buffer, held, order, pdb, pod
from tests.functions.drainer.one_drain import WEB, fake_ebb, holder
from tests.functions.fake_ebb import FakeEbb

SMALL = buffer("web", 2, cpu=0.5, ready=2)


def looks_at_buffers(ebb: FakeEbb) -> int:
    return sum(call[0] == "buffers" for call in ebb.cluster.calls)


def when_evicted(ebb: FakeEbb, buffers: Buffers) -> None:
    """What the autoscaler says once the first pod is on its way."""

    def look() -> None:
        if any(pod.deleting for pod in ebb.cluster.pods.values()):
            ebb.cluster.buffers_held = buffers

    ebb.clock.moves.insert(0, look)


def test_a_drain_reads_no_buffers_where_there_are_none() -> None:
    ebb = fake_ebb()
    assert ebb.drain(order()) is PushReply.DONE
    assert (looks_at_buffers(ebb), ebb.reasons("drain_result")) == (0, [])


def test_a_drain_goes_on_while_buffers_have_the_room_that_they_had() -> None:
    ebb = fake_ebb()
    ebb.cluster.buffers_held = held(SMALL)
    ebb.drain(order())
    assert looks_at_buffers(ebb) > 0
    assert (holder(ebb), ebb.reasons("drain_result")) == ("order", [])


def test_a_node_is_returned_when_a_buffer_falls_after_the_first_eviction() -> None:
    ebb = fake_ebb(pod("p", on="n1", kind=replace(WEB, grace_seconds=30)), pdb("web", app="web"))
    ebb.cluster.buffers_held = held(SMALL)
    when_evicted(ebb, held(replace(SMALL, ready=1)))
    ebb.drain(order())
    assert (holder(ebb), ebb.reasons("drain_result")) == (None, ["buffer"])


def test_a_drain_whose_pods_would_take_a_buffers_room_moves_nothing() -> None:
    ebb = fake_ebb(pod("p", on="n1", kind=WEB), pod("q", on="n2", kind=WEB), pdb("web", app="web"))
    ebb.cluster.buffers_held = held(buffer("web", 3, cpu=3.85, ready=3))
    ebb.drain(order())
    assert (holder(ebb), ebb.reasons("drain_result")) == (None, ["stale"])
    assert not any(call[0] == "evict" for call in ebb.cluster.calls if call[-1] is False)
