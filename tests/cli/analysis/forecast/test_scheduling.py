"""Where the scheduler would put what is evicted: by the share of each node's own size that is in use."""

from dataclasses import replace

import pytest

from functions.cli.analysis.forecast.scheduling import drained
from tests.builders import cluster, node, pod


@pytest.mark.parametrize(
    ("expected", "profile"),
    [
        pytest.param("small", "BALANCED", id="the default profile spreads: the emptier by share, though less is free"),
        pytest.param("large", "OPTIMIZE_UTILIZATION", id="optimize-utilization packs: the fuller by share"),
    ],
)
def test_a_large_node_is_not_emptier_for_being_large(expected: str, profile: str) -> None:
    nodes = [node("leaving"), node("large", cpu=16, memory=64), node("small", cpu=4, memory=16)]
    pods = [
        pod("p", on="leaving", cpu=0.5, memory=2),
        pod("l", on="large", cpu=8, memory=32),
        pod("s", on="small", cpu=1, memory=4),
    ]
    later = drained(replace(cluster(nodes, pods), profile=profile), ["leaving"], ()).snapshot

    assert {each.name: each.node for each in later.pods}["p"] == expected
