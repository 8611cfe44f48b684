"""Capacity buffers on the simulated GKE: who knows of them, what the autoscaler holds for them, and what it buys."""

from typing import Any

import pytest

from infra.local.world.kinds import Json
from tests.local.autoscaled_cluster import AutoscaledCluster, main_pool, pooled
from tests.local.virtual_cluster import pod

GROUP = "/apis/autoscaling.x-k8s.io"
BUFFERS = f"{GROUP}/v1beta1/capacitybuffers"


def with_buffer(scaled: AutoscaledCluster, chunks: int, cpu: str, **spec: Any) -> AutoscaledCluster:
    asked = {"resources": {"requests": {"cpu": cpu, "memory": "64Mi"}}}
    body = {"spec": {"containers": [{"name": "main", **asked}]}}
    meta = {"name": "web", "namespace": "default"}
    scaled.add("podtemplates", {"metadata": meta, "template": body})
    status = {"podTemplateRef": {"name": "web"}, "replicas": chunks}
    scaled.add("capacitybuffers", {"metadata": meta, "spec": spec, "status": status})
    return scaled


def two_nodes(most: int = 9) -> AutoscaledCluster:
    pool = main_pool("z1", max_node_count=most)
    scaled = AutoscaledCluster([pooled("a"), pooled("b")], pool)
    scaled.add("pods", pod("stays", on="b", phase="Running"))
    return scaled


def ready(scaled: AutoscaledCluster) -> int | None:
    buffer: Json = scaled.store.get("capacitybuffers", "default", "web")
    count: int | None = buffer["status"].get("readyReplicas")
    return count


def test_the_kind_is_served_once_there_is_a_buffer() -> None:
    scaled = two_nodes()
    for path in (GROUP, f"{GROUP}/v1beta1", BUFFERS):
        assert scaled.call("GET", path).status == 404
    with_buffer(scaled, 1, "100m")
    assert [row["version"] for row in scaled.json("GET", GROUP)["versions"]] == ["v1beta1"]
    assert [row["name"] for row in scaled.json("GET", f"{GROUP}/v1beta1")["resources"]] == ["capacitybuffers"]
    assert len(scaled.json("GET", BUFFERS)["items"]) == 1


@pytest.mark.parametrize(
    ("left", "chunks", "spec"),
    [
        pytest.param(["b"], 0, {}, id="without chunks the empty node goes"),
        pytest.param(["b"], 1, {}, id="a chunk that has room next to the pod lets it go"),
        pytest.param(["a", "b"], 2, {}, id="a chunk that has room on it alone keeps it"),
        pytest.param(["b"], 2, {"provisioningStrategy": "buffer.gke.io/standby-capacity"}, id="standby holds nothing"),
    ],
)
def test_the_autoscaler_deletes_no_node_that_a_buffer_needs(left: list[str], chunks: int, spec: Any) -> None:
    scaled = with_buffer(two_nodes(), chunks, "2500m", **spec)
    scaled.live(25)
    assert scaled.names() == left


def test_the_autoscaler_buys_a_node_for_chunks_that_fit_nowhere_and_shows_how_many_have_room() -> None:
    scaled = with_buffer(two_nodes(), 3, "2500m")
    scaled.live(1)
    assert (ready(scaled), len(scaled.names())) == (2, 3)
    scaled.live(10)
    assert (ready(scaled), len(scaled.names())) == (3, 3)
    assert "TriggeredScaleUp" not in scaled.events(), "nobody sees the pods that stand for chunks"


def test_a_cordoned_node_has_no_room_for_chunks() -> None:
    scaled = with_buffer(two_nodes(most=2), 2, "2500m")
    scaled.live(2)
    assert ready(scaled) == 2
    scaled.change("nodes", "", "a", lambda thing: thing["spec"].update(unschedulable=True))
    scaled.live(2)
    assert ready(scaled) == 1
