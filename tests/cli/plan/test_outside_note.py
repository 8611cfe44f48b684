"""A plan says which nodes no pool's figures have, so that the sums can be understood."""

from typing import Any

import pytest

from functions.cli.plan.sentences import outside_note
from shared.core.cluster import names
from tests.builders import cluster, node, taint

STANDBY: dict[str, Any] = {"labels": {names.STANDBY_NODE: "true"}}
MANAGED: dict[str, Any] = {"labels": {names.MANAGED_NODE: "true"}}
VIRTUAL: dict[str, Any] = {"taints": (taint(names.VIRTUAL_TAINT),)}


@pytest.mark.parametrize(
    ("expected", "nodes"),
    [
        pytest.param("", [{}], id="nothing where all count"),
        pytest.param("1 node standing by for a capacity buffer", [{}, STANDBY], id="those that stand by"),
        pytest.param("2 nodes managed by Google", [MANAGED, MANAGED], id="those that Google manages"),
        pytest.param(
            "1 node standing by for a capacity buffer, 1 node managed by Google", [STANDBY, MANAGED, {}], id="both"
        ),
        pytest.param("1 node of a virtual kubelet", [VIRTUAL, {}], id="those without a machine"),
    ],
)
def test_nodes_that_count_nowhere_are_shown(expected: str, nodes: list[dict[str, Any]]) -> None:
    said = outside_note(cluster([node(f"n{place}", **each) for place, each in enumerate(nodes)]))
    end = " (docs/decisions/neighbours.md)."
    assert "".join(said) == (
        f"Nodes in no pool's figures, and without a cost here: {expected}{end}" if expected else ""
    )
