"""A capacity buffer that falls while a drain moves pods gives the node back."""

from datetime import timedelta

import pytest

from shared.core.cluster.autoscaling import Buffers
from shared.core.draining.drain import ReturnNode
from shared.core.draining.next_step import next_step
from shared.core.reasons import ReturnReason
from tests.builders import NOW, buffer, held, pod
from tests.core.draining.test_next_step import observed, record

LATER = NOW + timedelta(minutes=1)


@pytest.mark.parametrize("phase", ["cordoned", "drained"])
@pytest.mark.parametrize(
    ("expected", "before", "now"),
    [
        pytest.param(True, {"default/web": 3}, held(buffer("web", 3, ready=2)), id="one chunk has lost its room"),
        pytest.param(False, {"default/web": 3}, held(buffer("web", 3, ready=3)), id="all have it"),
        pytest.param(False, {"default/web": 3}, held(buffer("web", 2, ready=2)), id="fewer are wanted"),
        pytest.param(True, {"default/web": 3}, held(buffer("web", 2, ready=1)), id="fewer, and one has none"),
        pytest.param(False, {"default/web": 1}, held(buffer("web", 3, ready=1)), id="it was short before"),
        pytest.param(False, {"default/web": 3}, held(buffer("web", 3)), id="the autoscaler does not show"),
        pytest.param(False, {"default/web": 3}, held(), id="the buffer is gone"),
        pytest.param(False, {}, held(buffer("new", 3, ready=0)), id="a buffer that was not there before"),
    ],
)
def test_a_buffer_that_falls_gives_the_node_back(
    expected: bool, phase: str, before: dict[str, int], now: Buffers
) -> None:
    step = next_step(record(phase, buffers=before), observed(pod("p", on="n1"), buffers=now), LATER)
    assert (isinstance(step, ReturnNode) and step.why is ReturnReason.BUFFER) is expected


def test_it_shows_how_many_chunks_had_room_and_have() -> None:
    now = held(buffer("web", 4, ready=2))
    step = next_step(record("cordoned", buffers={"default/web": 3}), observed(buffers=now), LATER)
    assert step == ReturnNode(ReturnReason.BUFFER, "default/web: 2 of 4 chunks have room, 3 had before")
