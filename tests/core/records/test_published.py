from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.core.cluster.node import Node
from shared.core.reasons import ReturnReason
from shared.core.records.claims import (
    COUNTS_FOR,
    as_planned,
    grant,
    hours_since,
    on_their_way,
    settle,
    still_saved,
    with_published,
    with_removed,
    without_order,
    without_void,
)
from shared.core.records.state import Claim, ClusterState, Published, Reclaimed
from tests.builders import NOW, claim, node
from tests.depth import cases

ISSUED = NOW - timedelta(minutes=5)


def published(name: str = "n1", **changes: Any) -> Published:
    given: dict[str, Any] = {"since": ISSUED, "order_id": f"for-{name}", **changes}
    expires = given.pop("expires_at", NOW + timedelta(minutes=5))
    return Published(claim=claim(name, **given), expires_at=expires, pods={"default": 3})


def state(*orders: Published, **changes: Any) -> ClusterState:
    rows = {f"uid-{order.claim.node}": order for order in orders}
    return ClusterState(**{"published": rows, "last_pass": NOW - timedelta(minutes=4), **changes})


@cases(
    "expected, given",
    ("not yet claimed", ["uid-n1"], state(published())),
    ("expired", [], state(published(expires_at=NOW))),
    ("its node is claimed", [], state(published(), claims={"uid-n1": claim("n1")})),
    ("its pass was not completed", [], state(published(), last_pass=ISSUED - timedelta(minutes=5))),
    ("no pass was ever completed", [], state(published(), last_pass=None)),
)
def test_an_order_is_on_its_way_until_it_is_claimed_or_expires(expected: list[str], given: ClusterState) -> None:
    assert list(on_their_way(given, NOW)) == expected


def test_the_planner_counts_an_order_on_its_way_as_the_claim_it_asks_for() -> None:
    before = state(
        published(moving_pods={"web": 2}), claims={"uid-n2": claim("n2")}, last_scale_down=ISSUED - timedelta(1)
    )

    counted = as_planned(before, NOW)

    assert set(counted.claims) == {"uid-n1", "uid-n2"}
    assert counted.claims["uid-n1"].moving_pods == {"web": 2}
    assert counted.last_scale_down == ISSUED
    assert [(start.at, start.pool, start.pods) for start in counted.starts] == [(ISSUED, "a", {"default": 3})]


def test_nothing_on_its_way_changes_nothing() -> None:
    before = state(claims={"uid-n2": claim("n2")})

    assert as_planned(before, NOW) is before


@cases(
    "expected, after",
    ("refused", [], lambda given: without_order(given, "for-n1")),
    ("another one refused", ["uid-n1"], lambda given: without_order(given, "for-n2")),
    ("claimed", [], lambda given: grant(given, "uid-n1", claim("n1"), timedelta(0))),
    ("its node claimed by somebody else", [],
     lambda given: grant(given, "uid-n1", claim("n1", order_id="x"), timedelta(0))),
    ("another claim", ["uid-n1"], lambda given: grant(given, "uid-n2", claim("n2"), timedelta(0))),
)  # fmt: skip
def test_an_answer_takes_the_order_off_its_way(expected: list[str], after: Any) -> None:
    assert list(after(state(published())).published) == expected


@cases(
    "expected, given, alive",
    ("of a completed pass", ["uid-n1"], state(published()), True),
    ("of this very pass", ["uid-n1"], state(published(since=NOW)), True),
    ("expired", [], state(published(expires_at=NOW)), True),
    ("its node is gone", [], state(published()), False),
    ("of a pass that died", [], state(published(), last_pass=ISSUED - timedelta(1)), True),
)
def test_a_pass_sweeps_what_no_longer_counts(expected: list[str], given: ClusterState, alive: bool) -> None:
    assert list(without_void(given, lambda _: alive, NOW, NOW).published) == expected


def test_a_document_of_an_older_version_has_no_order_on_its_way() -> None:
    old = msgspec.json.encode({"claims": {}, "paused": False})

    assert msgspec.json.decode(old, type=ClusterState).published == {}


def test_a_claim_of_an_older_version_counts_as_one_that_moves_pods() -> None:
    fields = msgspec.to_builtins(claim("n1"))

    assert "drained" not in fields
    assert not msgspec.convert(fields, Claim, strict=False).drained


def test_orders_are_added_to_those_that_are_there() -> None:
    assert set(with_published(state(published()), {"uid-n2": published("n2")}).published) == {"uid-n1", "uid-n2"}


MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


def row(nodes: int = 1, *, pool: str = "a", hour: datetime = NOW, cost: int = 100) -> Reclaimed:
    return Reclaimed(pool, hour, nodes, cost * nodes)


def test_a_removed_node_is_kept_with_its_cost_by_pool_and_hour() -> None:
    one = with_removed((), claim("n1", cost_per_hour=100), NOW + 5 * MINUTE)
    two = with_removed(one, claim("n2", cost_per_hour=50), NOW + 59 * MINUTE)
    three = with_removed(two, claim("n3", pool="b", cost_per_hour=70), NOW + HOUR)

    assert three == (Reclaimed("a", NOW, 2, 150), Reclaimed("b", NOW + HOUR, 1, 70))
    paid = with_removed(one, claim("n2", cost_per_hour=50, covered_per_hour=40), NOW)
    assert paid == (Reclaimed("a", NOW, 2, 150, covered_per_hour=40),), "of which a commitment covers some"


@cases(
    "expected, why", ("gone", 1, None), ("returned", 0, ReturnReason.DEADLINE), ("released", 0, ReturnReason.RELEASED)
)
def test_only_a_node_that_is_gone_counts_and_it_counts_once(expected: int, why: ReturnReason | None) -> None:
    state = ClusterState(claims={"uid-n1": claim("n1")})

    once = settle(state, "uid-n1", why, NOW)
    assert sum(reclaimed.nodes for reclaimed in once.reclaimed) == expected
    assert sum(total.nodes for total in once.removed.values()) == expected
    again = settle(once, "uid-n1", why, NOW)
    assert (again.reclaimed, again.removed) == (once.reclaimed, once.removed)


@cases(
    "expected, added",
    ("nobody came", (row(3),), []),
    ("one came back", (row(2),), [node("new", created=NOW + MINUTE)]),
    ("one that stood before the last pass", (row(3),), [node("old", created=NOW - MINUTE)]),
    ("one of another pool", (row(3),), [node("new", pool="b", created=NOW + MINUTE)]),
    ("more than had gone", (), [node(f"new{index}", created=NOW + MINUTE) for index in range(5)]),
)
def test_each_node_added_since_the_last_pass_takes_one_off(expected: tuple[Reclaimed, ...], added: list[Node]) -> None:
    assert still_saved((row(3),), added, NOW, NOW + 5 * MINUTE) == expected


def test_a_node_counts_for_a_day_at_most() -> None:
    assert still_saved((row(),), (), NOW, NOW + COUNTS_FOR - MINUTE)
    assert still_saved((row(),), (), NOW, NOW + COUNTS_FOR) == ()


@cases(
    "expected, last_pass",
    ("the first pass", 0, None),
    ("five minutes", 1 / 12, NOW - 5 * MINUTE),
    ("a long silence", 1, NOW - 3 * HOUR),
    ("a clock that went back", 0, NOW + MINUTE),
)
def test_a_pass_accounts_for_the_time_since_the_last_an_hour_at_most(
    expected: float, last_pass: datetime | None
) -> None:
    assert hours_since(last_pass, NOW) == pytest.approx(expected)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 30 * 60), st.integers(0, 10**7)), max_size=20))
def test_nothing_is_saved_that_was_not_removed(removals: list[tuple[str, int, int]]) -> None:
    saved: tuple[Reclaimed, ...] = ()
    for pool, minute, cost in sorted(removals, key=lambda removal: removal[1]):
        saved = with_removed(saved, claim("n", pool=pool, cost_per_hour=cost), NOW + minute * MINUTE)

    left = still_saved(saved, [node("new", created=NOW + 3 * HOUR)], NOW, NOW + 30 * HOUR)
    assert sum(reclaimed.nodes for reclaimed in left) <= sum(reclaimed.nodes for reclaimed in saved) == len(removals)
    assert sum(reclaimed.cost_per_hour for reclaimed in left) <= sum(cost for _, _, cost in removals)
    assert len({(reclaimed.pool, reclaimed.hour) for reclaimed in saved}) == len(saved)


def test_a_claim_is_found_by_its_order_with_its_node() -> None:
    mine = claim("n1", order_id="mine")
    state = ClusterState(claims={"uid-n2": claim("n2", order_id="other"), "uid-n1": mine})

    assert state.claim_of("mine") == ("uid-n1", mine)
    assert state.claim_of("nobody") is None


def test_a_claim_keeps_its_stored_names() -> None:
    """Documents of earlier versions call the moving pods of a claim its turns."""
    kept = claim("n1", moving_pods={"web": 2})
    assert msgspec.to_builtins(kept)["turns"] == {"web": 2}
    assert msgspec.convert(msgspec.to_builtins(kept), Claim, strict=False) == kept
