"""What the cluster's document says of an order."""

from shared.core.records.state import ClusterState
from tests.builders import claim


def test_a_claim_is_found_by_its_order_with_its_node() -> None:
    mine = claim("n1", order_id="mine")
    state = ClusterState(claims={"uid-n2": claim("n2", order_id="other"), "uid-n1": mine})

    assert state.claim_of("mine") == ("uid-n1", mine)
    assert state.claim_of("nobody") is None
