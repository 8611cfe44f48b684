"""What the cluster's document says of an order."""

import msgspec

from shared.core.records.state import Claim, ClusterState
from tests.builders import claim


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
