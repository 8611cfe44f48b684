"""The picture after drains: what has moved takes where it went what it needs there."""

from functions.cli.analysis.forecast.scheduling import without
from tests.builders import cluster, node, pod, resources


def test_a_pod_that_has_moved_takes_there_what_it_came_back_with() -> None:
    grown = pod("p", on="n1", cpu=3, memory=1, booked=resources(1, 1))
    before = cluster([node("n1"), node("n2")], [grown])
    (moved,) = without(before, {"n1"}, {grown.key: "n2"}).pods

    assert (grown.requests, moved.node, moved.requests) == (resources(1, 1), "n2", resources(3, 1))
