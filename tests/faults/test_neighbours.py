"""Nodes that GKE or others speak for are left alone, hold nothing up, and break no promise."""

import pytest

from tests.faults.history import History, run
from tests.faults.neighbours import BecomeNeighbour, beside_neighbours
from tests.faults.oracle import breaches


@pytest.mark.parametrize("history", beside_neighbours(), ids=lambda history: history.name)
def test_a_node_that_others_speak_for_is_left_alone_and_holds_no_other_up(history: History) -> None:
    ((_, act),) = history.acts
    assert isinstance(act, BecomeNeighbour)

    end = run(history)
    name = end.cloud.node_names["web"][act.place]
    patched = [call.what for call in end.call_gate.calls if call.what.startswith("patch")]

    assert breaches(end) == []
    assert not any(name in each for each in patched)
    assert patched, "the other nodes go as if it were not there"
