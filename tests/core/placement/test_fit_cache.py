"""Masks of where there is room are shared by classes that fit alike, and right however many are remembered."""

from typing import Any

import numpy as np
import pytest

from shared.core.cluster import names
from shared.core.placement.cluster_arrays import ClusterArrays
from shared.core.placement.node_room import CATCH_UP, REMEMBERED, FitCache
from tests.builders import cluster, node, pod, pod_class


def arrays_of(*kinds: dict[str, Any], nodes: int = 4) -> ClusterArrays:
    rows = [node(f"n{place}", cpu=1 + place, zone="ab"[place % 2]) for place in range(nodes)]
    return ClusterArrays(
        cluster(rows, [pod(f"p{place:04}", kind=pod_class(**kind)) for place, kind in enumerate(kinds)])
    )


@pytest.mark.parametrize(
    ("alike", "other"),
    [
        pytest.param(True, {"labels": {"statefulset.kubernetes.io/pod-name": "db-1"}}, id="another pod's name"),
        pytest.param(True, {"owner": "StatefulSet/other", "priority": 7}, id="another workload"),
        pytest.param(True, {"node_selector": {names.POOL_LABEL: "a"}}, id="a selector that all nodes have"),
        pytest.param(False, {"node_selector": {names.ZONE_LABEL: "b"}}, id="other nodes"),
        pytest.param(False, {"cpu": 0.2}, id="another need"),
    ],
)
def test_classes_that_need_the_same_of_the_same_nodes_share_a_mask(alike: bool, other: dict[str, Any]) -> None:
    arrays = arrays_of({}, other)
    cache = FitCache(arrays, arrays.free.copy(), arrays.destinations)

    assert (cache.of(0) is cache.of(1)) is alike


@pytest.mark.parametrize("touched", [1, CATCH_UP, CATCH_UP + 1])
def test_a_mask_is_as_if_made_again_however_many_nodes_were_touched_since_and_classes_asked(touched: int) -> None:
    arrays = arrays_of(*({"cpu": 1 + place / 1000} for place in range(REMEMBERED + 2)), nodes=40)
    free, is_open = arrays.free.copy(), arrays.destinations.copy()
    cache = FitCache(arrays, free, is_open)
    for kind in (0, 1, *range(2, len(arrays.classes)), 0, 1):
        cache.of(kind)
    for place in range(touched):
        free[arrays.axes.index("cpu"), place % 40] -= 500
        is_open[39] = not is_open[39]
        cache.touch(place % 40)
        cache.touch(39)

    for kind in range(len(arrays.classes)):
        assert np.array_equal(cache.of(kind), FitCache(arrays, free, is_open).of(kind))
