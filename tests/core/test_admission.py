"""When the planner's proof of placement still stands, and when the drainer has to make it anew."""

from datetime import timedelta

import pytest

from shared.core.admission import needs_whole_picture
from shared.core.orders import Order, Origin
from shared.core.state import Claim, ClusterState
from tests.builders import NOW, claim, order

PICTURE_AT = NOW - timedelta(seconds=60)


def ago(seconds: float, *, picture: float | None = 60) -> Claim:
    at = None if picture is None else NOW - timedelta(seconds=picture)
    return claim("n2", order_id="other", since=NOW - timedelta(seconds=seconds), picture_at=at)


@pytest.mark.parametrize(
    ("expected", "given", "claims"),
    [
        pytest.param(False, order(picture_at=PICTURE_AT), {}, id="a young picture and nobody else"),
        pytest.param(True, order(picture_at=NOW - timedelta(minutes=2)), {}, id="a picture of two minutes ago"),
        pytest.param(True, order(origin=Origin.MANUAL), {}, id="a person's order"),
        pytest.param(
            False, order(picture_at=PICTURE_AT), {"n2": ago(4)}, id="a claim of the pass that moved no pod yet"
        ),
        pytest.param(True, order(picture_at=PICTURE_AT), {"n2": ago(5)}, id="a claim of the pass that may move pods"),
        pytest.param(True, order(picture_at=PICTURE_AT), {"n2": ago(4, picture=None)}, id="a stranger's claim since"),
        pytest.param(False, order(picture_at=PICTURE_AT), {"n2": ago(300, picture=300)}, id="a claim that was counted"),
    ],
)
def test_a_proof_stands_until_pods_may_lie_elsewhere(expected: bool, given: Order, claims: dict[str, Claim]) -> None:
    assert needs_whole_picture(given, ClusterState(claims=claims), (), NOW) is expected
