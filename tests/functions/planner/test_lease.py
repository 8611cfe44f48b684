"""A pass that was frozen past its lease writes nothing over what the next one has written, and orders nothing."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from shared.errors import Stale
from tests.builders import policy
from tests.functions.fake_ebb import FakeEbb
from tests.functions.planner.half_empty_nodes import fake_ebb, marks

HALF_AN_HOUR = timedelta(minutes=30)
FROZEN = 40


def once(happens: Callable[[], object]) -> Callable[[], None]:
    """Return what happens at the first call alone."""
    waiting = [happens]

    def happen() -> None:
        if waiting:
            waiting.pop()()

    return happen


def freeze(ebb: FakeEbb) -> None:
    ebb.pass_time(minutes=FROZEN)


def overtake(ebb: FakeEbb) -> None:
    """Let another pass clear the marks: meanwhile nothing could go."""
    freeze(ebb)
    ebb.policy.policy = policy(enabled=False)
    ebb.tick("other")
    assert marks(ebb) == {}


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([("all", "pools")], id="before its plan"),
        pytest.param([("get", "pools"), ("put", "pools")], id="just before its write"),
    ],
)
def test_marks_of_a_pass_that_was_overtaken_are_not_written(calls: list[tuple[str, str]]) -> None:
    ebb = fake_ebb(policy=policy(consolidate_after=HALF_AN_HOUR))
    ebb.tick("1")
    ebb.pass_time(minutes=1)
    del ebb.cluster.nodes["n3"]
    ebb.state.meanwhile |= dict.fromkeys(calls, once(lambda: overtake(ebb)))

    with pytest.raises(Stale):
        ebb.tick("2")

    assert marks(ebb) == {}


def test_marks_that_a_pass_wrote_after_its_lease_begin_again() -> None:
    """The pass in between had none to remove."""
    ebb = fake_ebb(policy=policy(consolidate_after=HALF_AN_HOUR))
    ebb.state.meanwhile["put", "pools"] = once(lambda: overtake(ebb))

    with pytest.raises(Stale):
        ebb.tick("1")

    assert marks(ebb) == {}


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(("put", "cluster"), id="as it takes its lease"),
        pytest.param(("put", "pools"), id="after it was asked for"),
    ],
)
def test_a_pass_whose_lease_is_over_orders_nothing(call: tuple[str, str]) -> None:
    ebb = fake_ebb()
    ebb.state.meanwhile[call] = once(lambda: freeze(ebb))

    with pytest.raises(Stale):
        ebb.tick()

    assert ebb.bus.published == []
    assert ebb.remembered().published == {}
    assert ebb.remembered().last_pass is None
