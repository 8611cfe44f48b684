"""Whatever a pass dies of, it heals, and no soft taint outlives the deadline of its wave."""

from collections.abc import Callable

import pytest

from functions.planner.read_and_repair import Outages
from shared.core.healing import healing_input
from shared.core.records.orders import OrderKind
from shared.errors import Forbidden, Retryable, Stale, Terminal
from tests.builders import node, our_taint
from tests.depth import cases
from tests.fakes import failing
from tests.functions.fake_ebb import FakeEbb
from tests.functions.planner.half_empty_nodes import begun
from tests.functions.planner.half_empty_nodes import fake_ebb as half_empty
from tests.functions.test_waves import LET_GO, deliver_all, ebb_with_room, ebb_with_wave, held, of_kind

ODD = RecursionError("a fault of Ebb")


def _read_no_pools(ebb: FakeEbb) -> None:
    ebb.pools.failure = ODD


def _read_no_policy(ebb: FakeEbb) -> None:
    ebb.policy.policy = ODD


def _read_no_whole_cluster(ebb: FakeEbb) -> None:
    ebb.cluster.meanwhile["read",] = failing(ODD)


def _read_no_marks(ebb: FakeEbb) -> None:
    ebb.state.meanwhile["all", "pools"] = failing(ODD)


def _write_no_marks(ebb: FakeEbb) -> None:
    ebb.state.meanwhile["put", "pools"] = failing(ODD)
    ebb.cluster.put(node("n7"))


@pytest.mark.parametrize(
    "breaks", [_read_no_pools, _read_no_policy, _read_no_whole_cluster, _read_no_marks, _write_no_marks]
)
def test_a_pass_that_dies_of_anything_heals_and_frees_a_late_wave(breaks: Callable[[FakeEbb], None]) -> None:
    ebb = ebb_with_wave()
    ebb.cluster.put(node("n9", unschedulable=True, taints=(our_taint("lost"),)))
    breaks(ebb)

    for minutes, expected in ((60, ["n1", "n2", "n3"]), (31, [])):
        ebb.pass_time(minutes=minutes)
        with pytest.raises(RecursionError):
            ebb.tick(str(minutes))
        deliver_all(ebb, LET_GO)
        assert held(ebb) == expected
    assert {sent.node for sent in of_kind(ebb, OrderKind.RELEASE)} == {"n9"}


def test_advice_that_fails_by_a_fault_of_ebb_ends_no_pass() -> None:
    ebb = ebb_with_room()
    ebb.tick()
    ebb.cluster.meanwhile["deletion_attempts",] = failing(ODD)
    ebb.cluster.put(node("n9", taints=(our_taint("lost"),)))

    assert ebb.tick("2")["healed"] == 1


def test_a_rule_of_healing_that_fails_is_counted_and_ends_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    ebb = begun(half_empty())
    ebb.pass_time(minutes=30)
    monkeypatch.setattr(healing_input, "nodes_to_return", lambda *_: failing(ODD)())

    summary = ebb.tick()

    assert summary["not_healed"] > 0
    assert [(sent.node, sent.why) for sent in of_kind(ebb, OrderKind.RELEASE)] == [("n1", "watchdog")]


def _read_no_nodes(ebb: FakeEbb) -> None:
    ebb.cluster.meanwhile["all_nodes",] = failing(ODD)


@cases("breaks", ("its explanation", _read_no_nodes), ("the look for an upgrade", _read_no_pools))
def test_a_node_is_returned_whatever_fails_that_only_informs(breaks: Callable[[FakeEbb], None]) -> None:
    ebb = begun(half_empty())
    ebb.pass_time(minutes=30)
    ebb.tick()
    breaks(ebb)

    deliver_all(ebb, OrderKind.RELEASE)

    assert ebb.cluster.nodes["n1"].drain_taint is None


SILENCE, REFUSED = Retryable("the API", "no answer"), Terminal("the API", "422")


@cases(
    "expected, calls",
    ("three calls in a row get no answer", True, [SILENCE] * 3),
    ("two", False, [SILENCE] * 2),
    ("one between them succeeds", False, [SILENCE, SILENCE, None, SILENCE]),
    ("a refusal between them shows nothing", True, [SILENCE, REFUSED, SILENCE, SILENCE]),
    ("a refusal itself is none", False, [SILENCE, SILENCE, SILENCE, REFUSED]),
    ("what is wrong with single objects", False, [Stale("it changed"), Forbidden("patch"), REFUSED]),
)
def test_calls_that_get_no_answer_one_after_another_are_an_outage(
    expected: bool, calls: list[Exception | None]
) -> None:
    outages, found = Outages(), False
    for fault in calls:
        if fault is None:
            outages.note_success()
            found = False
        else:
            found = outages.is_one(fault)
    assert found is expected
