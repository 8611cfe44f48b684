"""Whoever sees a drain end tells it in one form on the results topic, with all keys."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from functions.drainer.main import PushReply
from shared.core.records.orders import DrainResult, Origin
from shared.errors import Terminal
from tests.builders import CLUSTER, node, order, our_taint, pdb, pod, policy
from tests.depth import cases
from tests.functions.drainer.one_drain import fake_ebb, released
from tests.functions.fake_ebb import FakeEbb


def declined() -> FakeEbb:
    ebb = fake_ebb(policy=policy(enabled=False))
    ebb.drain(order())
    return ebb


def dry() -> FakeEbb:
    ebb = fake_ebb()
    ebb.drain(order(dry_run=True))
    return ebb


def returned() -> FakeEbb:
    ebb = fake_ebb()
    ebb.drain(order())
    ebb.deliver(released())
    return ebb


def removed() -> FakeEbb:
    """Seen by the planner."""
    ebb = fake_ebb()
    ebb.drain(order())
    del ebb.cluster.nodes["n1"]
    ebb.tick()
    return ebb


def without_a_record(**found: Any) -> FakeEbb:
    """A release of a node whose drain nobody remembers; by a person, unless the planner `found` it."""
    ebb = fake_ebb(pod("p", on="n2"), pdb("web", app="web"))
    ebb.cluster.put(node("n1", unschedulable=True, taints=(our_taint(),)))
    ebb.deliver(released(**found))
    return ebb


@cases(
    "expected, story",
    ("declined", ("refused", "pool_disabled", False), declined),
    ("dry run", ("would_drain", "", True), dry),
    ("returned", ("released", "released", False), returned),
    ("removed", ("removed", "", False), removed),
    ("a release without a record", ("released", "released", False), without_a_record),
    ("an orphan without a record", ("given_back", "orphan", False),
     partial(without_a_record, origin=Origin.PLANNER, why="orphan")),
)  # fmt: skip
def test_every_end_is_shown_with_all_keys(expected: tuple[str, str, bool], story: Callable[[], FakeEbb]) -> None:
    ebb = story()

    (told,) = ebb.bus.reported
    assert list(told) == list(DrainResult.__struct_fields__)
    assert (told["order_id"], told["cluster"], told["node"]) == ("order", CLUSTER, "n1")
    assert (told["outcome"], told["why"], told["dry_run"]) == expected


@pytest.mark.parametrize("seen_by_planner", [True, False], ids=["the planner sees the end", "the drainer does"])
def test_no_claim_waits_for_the_results_topic(seen_by_planner: bool) -> None:
    ebb = fake_ebb()
    ebb.bus.results_failure = Terminal("Pub/Sub topic results", "404")
    if seen_by_planner:
        ebb.drain(order())
        del ebb.cluster.nodes["n1"]
        ebb.tick()
    else:
        ebb.later(5, lambda: ebb.cluster.nodes.pop("n1", None))
        assert ebb.drain(order()) is PushReply.DONE

    assert ebb.remembered().claims == {}
    assert ebb.reasons("drain_result") == [""]
