"""Orders of a wave in the drainer: no node keeps another from its soft taint, and no taint outlives its wave."""

import pytest

from functions.drainer.main import PushReply
from shared.errors import Retryable, Terminal
from shared.ports import WAVE_KEY
from tests.builders import node
from tests.depth import cases
from tests.fakes import failing
from tests.functions.fake_ebb import FakeEbb
from tests.functions.test_waves import HOLD, LET_GO, held, living, of_wave

NAMES = ("n1", "n2", "n3")


def ebb_of_three(*tainted: str) -> FakeEbb:
    ebb = FakeEbb(*map(node, NAMES))
    for name in tainted:
        ebb.cluster.set_soft_taint(ebb.cluster.node(name), held=True)
    return ebb


@pytest.mark.parametrize("bad", NAMES)
@cases(
    "fault",
    ("no answer", Retryable("Kubernetes API", "500")),
    ("refused", Terminal("Kubernetes API", "422")),
    ("a fault of Ebb", ValueError("odd")),
)
def test_a_node_that_cannot_be_written_keeps_no_other_node_tainted(bad: str, fault: Exception) -> None:
    ebb = ebb_of_three(*NAMES)
    ebb.cluster.meanwhile["set_soft_taint", bad] = failing(fault)

    try:
        reply = ebb.deliver(of_wave(LET_GO, *NAMES))
    except ValueError:  # the entry point answers 500
        reply = PushReply.AGAIN

    assert reply is PushReply.AGAIN
    assert held(ebb) == [bad]


def test_a_node_whose_write_takes_a_whole_step_is_not_the_first_for_ever() -> None:
    ebb = FakeEbb(*map(node, NAMES), step_seconds=20)
    ebb.state.put(WAVE_KEY, living(*NAMES, minutes=60), None)

    def time_out() -> None:
        ebb.clock.advance(30)
        raise Retryable("Kubernetes API", "timed out")

    ebb.cluster.meanwhile["set_soft_taint", "n1"] = time_out

    for _ in range(3):
        assert ebb.deliver(of_wave(HOLD, *NAMES)) is PushReply.AGAIN
        ebb.pass_time(seconds=1)

    assert held(ebb) == ["n2", "n3"]


def test_a_wave_that_ends_while_nodes_are_written_leaves_no_soft_taint() -> None:
    """Not on the node that is written in that moment either: nobody orders its removal, for it has no taint yet."""
    ebb = ebb_of_three()
    ebb.state.put(WAVE_KEY, living(*NAMES), None)

    def end_wave() -> None:
        if version := ebb.state.get(WAVE_KEY).version:
            ebb.state.delete(WAVE_KEY, version)
            ebb.deliver(of_wave(LET_GO, *NAMES))

    ebb.cluster.meanwhile["set_soft_taint", "n2", True] = end_wave

    assert ebb.deliver(of_wave(HOLD, *NAMES)) is PushReply.DONE

    assert held(ebb) == []


def test_a_hold_that_is_repeated_after_its_wave_frees_what_it_had_written() -> None:
    ebb = ebb_of_three("n1")

    assert ebb.deliver(of_wave(HOLD, *NAMES)) is PushReply.DONE

    assert held(ebb) == []
