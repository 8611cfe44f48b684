"""What the bill falls by if one node alone goes."""

from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest

from functions.cli.analysis.explanation import NodeWorth, worth_of
from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.planning.bill import Savings
from shared.core.policy.values import Capacity, Commitment, Commitments, FlexibleCommitment
from tests.builders import NOW, node

PRICES = load()
PRICE = PRICES.of(node("n")).per_hour
ENDS = NOW + timedelta(days=100)
"""Of a commitment for e2 machines; each node has 4 vCPUs and 16 GiB."""


def committed(nodes: int, until: datetime | None = ENDS, **changes: Any) -> Commitments:
    return Commitments((Commitment("e2", Capacity(Fraction(4 * nodes), Fraction(16 * nodes)), until),), **changes)


@pytest.mark.parametrize(
    ("expected", "commitments"),
    [
        pytest.param(None, Commitments(), id="nothing is committed: no word of bills"),
        pytest.param(NodeWorth(PRICE), committed(2), id="another node uses the commitment: its price"),
        pytest.param(NodeWorth(0, ("e2",), ENDS, PRICE), committed(3), id="all are committed: nothing until the end"),
        pytest.param(NodeWorth(0, ("e2",)), committed(3, until=None), id="an end that is not known"),
        pytest.param(
            NodeWorth(0, ("flexible",)),
            Commitments(flexible=FlexibleCommitment(Fraction(10), Fraction(0))),
            id="a flexible commitment covers all",
        ),
    ],
)
def test_a_node_is_worth_what_the_bill_falls_by(expected: NodeWorth | None, commitments: Commitments) -> None:
    nodes = [node(f"n{number}") for number in range(3)]
    found = worth_of(Savings.among(nodes, (), PRICES, commitments, NOW), nodes[0])

    assert found == expected


def test_a_spot_node_saves_its_price_whatever_is_committed() -> None:
    nodes = [node("n0", labels={names.SPOT_LABELS[0]: "true"}), node("n1")]
    found = worth_of(Savings.among(nodes, (), PRICES, committed(3), NOW), nodes[0])

    assert found == NodeWorth(PRICES.of(nodes[0]).per_hour)
