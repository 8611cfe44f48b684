"""Whether an upgrade of its pool may be at work on a node."""

import pytest

from shared.core.cluster.node import NodePool
from shared.core.draining.cordon import is_upgraded, may_be_taken
from tests.builders import node

OLD, NEW = "1.33.9-gke.200", "1.33.10-gke.100"
AT_WORK = NodePool("a", upgrading=True, version=NEW)


@pytest.mark.parametrize(
    ("expected", "version", "pool"),
    [
        pytest.param(False, OLD, None, id="a pool that GKE does not report"),
        pytest.param(False, OLD, NodePool("a", version=NEW), id="no upgrade"),
        pytest.param(True, OLD, AT_WORK, id="an old node"),
        pytest.param(False, NEW, AT_WORK, id="a node that has the new version, among older ones"),
        pytest.param(True, OLD, NodePool("a", upgrading=True, version=OLD), id="work that brings no new version"),
        pytest.param(True, "", NodePool("a", upgrading=True), id="nothing is known"),
    ],
)
def test_an_upgrade_may_take_what_is_not_known_to_be_done(expected: bool, version: str, pool: NodePool | None) -> None:
    nodes = [node("n1", version=version), node("n2", version=OLD)]
    assert may_be_taken(nodes[0], pool, nodes) is expected


@pytest.mark.parametrize(
    ("expected", "version", "others"),
    [
        pytest.param(True, NEW, [OLD], id="others wait for it"),
        pytest.param(False, NEW, [NEW], id="where all are alike the upgrade may change something else"),
        pytest.param(False, OLD, [OLD, NEW], id="the old version"),
    ],
)
def test_an_upgrade_is_over_for_a_node_of_the_new_version_among_older_ones(
    expected: bool, version: str, others: list[str]
) -> None:
    nodes = [node(f"n{number}", version=other) for number, other in enumerate([version, *others])]
    assert is_upgraded(nodes[0], AT_WORK, nodes) is expected
    assert not is_upgraded(nodes[0], AT_WORK, [nodes[0], node("elsewhere", pool="b", version=OLD)])
