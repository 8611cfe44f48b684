"""The snapshot after drains: what has moved takes where it went what it needs there."""

from dataclasses import replace

from tests.builders import cluster, node, pod, resources


def test_a_pod_that_has_moved_takes_there_what_it_came_back_with() -> None:
    grown = pod("p", on="n1", cpu=3, memory=1, booked=resources(1, 1))
    before = cluster([node("n1"), node("n2")], [grown])
    (moved,) = before.without({"n1"}, {grown.key: "n2"}).pods

    assert (grown.requests, moved.node, moved.requests) == (resources(1, 1), "n2", resources(3, 1))


def test_a_snapshot_after_drains_knows_its_pods_like_one_made_of_them_and_keeps_untouched_nodes() -> None:
    rows = [pod("a", on="n1"), pod("b", on="n2"), pod("c", on="n3"), pod("daemon", on="n1", owner="DaemonSet/daemon")]
    before = cluster([node("n1"), node("n2"), node("n3")], rows)
    after = before.without({"n1"}, {rows[0].key: "n2"})

    fresh = replace(after)
    assert dict(after.pods_by_node) == dict(fresh.pods_by_node)
    assert after.pods_by_node["n3"] is before.pods_by_node["n3"]
