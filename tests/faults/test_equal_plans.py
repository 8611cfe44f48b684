"""A plan that is kept stands for passes that have read the very same, and for no other."""

from collections.abc import Callable
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from shared.adapters.prices import load
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.make_plan import PassOptions, make_plan
from shared.core.planning.plan import Plan
from shared.core.records.state import INTERVAL, ClusterState, PoolMarks
from shared.core.rules.situation import Situation
from tests.builders import NOW, policy
from tests.core.planning.passes import half_full, marked
from tests.faults.equal_plans import EqualPlans, equal_plans_made_once
from tests.faults.families import history_named
from tests.faults.rerun import digest

PRICES = load()
NODES = ("n1", "n2", "n3")


def passed(
    make: Callable[..., Plan],
    snapshot: Snapshot | None = None,
    marks: dict[str, PoolMarks] | None = None,
    *,
    late: bool = False,
    wave: tuple[str, ...] | None = None,
    **settings: Any,
) -> Plan:
    """Plan a pass over half-full nodes."""
    seen = half_full(*NODES) if snapshot is None else snapshot
    situation = Situation(seen, ClusterState(last_pass=NOW - INTERVAL), policy(**settings))
    return make(
        situation, marked(*NODES) if marks is None else marks, PRICES, INTERVAL, wave, PassOptions(lambda: late)
    )


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        pytest.param(1, {}, id="an equal pass"),
        pytest.param(2, {"snapshot": half_full("n1", "n2")}, id="a node fewer"),
        pytest.param(2, {"snapshot": half_full(*NODES, cpu=1)}, id="pods that ask for less"),
        pytest.param(2, {"marks": marked(*NODES, ago=timedelta(minutes=11))}, id="marks a minute older"),
        pytest.param(2, {"late": True}, id="a brake that answers yes"),
        pytest.param(2, {"wave": ("n1",)}, id="a wave that lives"),
        pytest.param(2, {"required_count": 3}, id="another policy"),
    ],
)
def test_a_plan_is_made_once_for_equal_passes(expected: int, given: dict[str, Any]) -> None:
    calls = count()

    def counted(*of: Any) -> Plan:
        next(calls)
        return make_plan(*of)

    remembering = EqualPlans(counted)
    passed(remembering)

    assert passed(remembering, **given) == passed(make_plan, **given)
    assert next(calls) == expected


def test_a_plan_that_differs_for_an_equal_pass_is_seen() -> None:
    plans = iter((passed(make_plan), passed(make_plan, marks={})))
    remembering = EqualPlans(lambda *_: next(plans), check=1)
    passed(remembering)

    with pytest.raises(AssertionError, match="different plans"):
        passed(remembering)


def test_the_plan_that_nobody_asked_for_longest_is_forgotten() -> None:
    calls = count()

    def counted(*of: Any) -> Plan:
        next(calls)
        return make_plan(*of)

    remembering = EqualPlans(counted, most=2)
    for snapshot in map(half_full, ("n1", "n2", "n1", "n3", "n1")):
        passed(remembering, snapshot)

    assert next(calls) == 3


@pytest.mark.parametrize("name", ["kill:tight:9", "waved mixture:3", "replaced people:2"])
def test_a_history_is_the_same_whether_plans_are_kept_or_made(name: str) -> None:
    history = history_named(name)
    made = digest(history)
    with equal_plans_made_once():
        kept = [digest(history) for _ in range(2)]

    assert kept == [made, made]
