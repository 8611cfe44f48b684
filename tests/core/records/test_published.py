"""Orders on their way: from when to when they count as in flight."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from shared.core.records.claims import as_planned, grant, on_their_way, with_published, without_order, without_void
from shared.core.records.state import Claim, ClusterState, Published
from tests.builders import NOW, claim

ISSUED = NOW - timedelta(minutes=5)


def published(name: str = "n1", **changes: Any) -> Published:
    given: dict[str, Any] = {"since": ISSUED, "order_id": f"for-{name}", **changes}
    expires = given.pop("expires_at", NOW + timedelta(minutes=5))
    return Published(claim=claim(name, **given), expires_at=expires, pods={"default": 3})


def state(*orders: Published, **changes: Any) -> ClusterState:
    rows = {f"uid-{order.claim.node}": order for order in orders}
    return ClusterState(**{"published": rows, "last_pass": NOW - timedelta(minutes=4), **changes})


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        pytest.param(["uid-n1"], state(published()), id="not yet claimed"),
        pytest.param([], state(published(expires_at=NOW)), id="expired"),
        pytest.param([], state(published(), claims={"uid-n1": claim("n1")}), id="its node is claimed"),
        pytest.param([], state(published(), last_pass=ISSUED - timedelta(minutes=5)), id="its pass was not completed"),
        pytest.param([], state(published(), last_pass=None), id="no pass was ever completed"),
    ],
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


@pytest.mark.parametrize(
    ("expected", "after"),
    [
        pytest.param([], lambda given: without_order(given, "for-n1"), id="refused"),
        pytest.param(["uid-n1"], lambda given: without_order(given, "for-n2"), id="another one refused"),
        pytest.param([], lambda given: grant(given, "uid-n1", claim("n1"), timedelta(0)), id="claimed"),
        pytest.param([], lambda given: grant(given, "uid-n1", claim("n1", order_id="x"), timedelta(0)),
                     id="its node claimed by somebody else"),
        pytest.param(["uid-n1"], lambda given: grant(given, "uid-n2", claim("n2"), timedelta(0)), id="another claim"),
    ],
)  # fmt: skip
def test_an_answer_takes_the_order_off_its_way(expected: list[str], after: Any) -> None:
    assert list(after(state(published())).published) == expected


@pytest.mark.parametrize(
    ("expected", "given", "alive"),
    [
        pytest.param(["uid-n1"], state(published()), True, id="of a completed pass"),
        pytest.param(["uid-n1"], state(published(since=NOW)), True, id="of this very pass"),
        pytest.param([], state(published(expires_at=NOW)), True, id="expired"),
        pytest.param([], state(published()), False, id="its node is gone"),
        pytest.param([], state(published(), last_pass=ISSUED - timedelta(1)), True, id="of a pass that died"),
    ],
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
