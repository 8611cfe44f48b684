"""Room that a capacity buffer has nowhere else is given back, and only where that helps."""

from dataclasses import replace

import pytest

from shared.core.cluster.autoscaling import Buffers
from shared.core.placement.demand import nodes_for_buffers
from tests.builders import buffer, cluster, held, node, our_taint, pod


def needed(buffers: Buffers) -> dict[str, str]:
    """An open node has 1 CPU left, a held one 3 and the other 2."""
    ours = [replace(node(name), unschedulable=True, taints=(our_taint(name),)) for name in ("h1", "h2")]
    pods = [pod("big", on="open", cpu=3), pod("p1", on="h1", cpu=1), pod("p2", on="h2", cpu=2)]
    seen = cluster([node("open"), *ours], pods, buffers=buffers)
    return dict(nodes_for_buffers(seen, ours))


@pytest.mark.parametrize(
    ("expected", "buffers"),
    [
        pytest.param({}, held(), id="no buffers"),
        pytest.param({}, held(buffer("web", cpu=1)), id="there is room on an open node"),
        pytest.param({"h1": "default/web"}, held(buffer("web", cpu=1.5)), id="only a held node has room"),
        pytest.param({"h1": "default/web"}, held(buffer("web", 2, cpu=1.5)), id="two chunks on one node take one node"),
        pytest.param(
            {"h1": "default/web", "h2": "default/web"}, held(buffer("web", 2, cpu=1.8)), id="two that need a node each"
        ),
        pytest.param({}, held(buffer("web", cpu=9)), id="a chunk that no node could take"),
        pytest.param({}, held(buffer("web", cpu=1.5, node_selector={"gpu": "yes"})), id="one for other nodes"),
        pytest.param({}, held(buffer("web", cpu=1.5, ready=1)), id="the autoscaler shows that it has its room"),
        pytest.param({"h1": "default/web"}, held(buffer("web", 2, cpu=1.5, ready=1)), id="it shows that one lacks it"),
    ],
)
def test_a_held_node_is_returned_for_a_buffer_that_has_room_nowhere_else(
    expected: dict[str, str], buffers: Buffers
) -> None:
    assert needed(buffers) == expected
