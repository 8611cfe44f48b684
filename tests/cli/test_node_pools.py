"""Pools from a file of gcloud: what the autoscaler may do is then known of a dump, too."""

import json
from pathlib import Path
from typing import Any

import pytest

from functions.cli.input.inputs import gather
from functions.cli.input.options import Sources
from shared.core.cluster.node import NodePool
from shared.core.cluster.resources import CPU
from shared.core.cluster.snapshot import Snapshot
from shared.errors import BadInput
from tests.cli import dumps
from tests.depth import cases

POOLS: list[dict[str, Any]] = [
    {
        "name": "default-pool",
        "autoscaling": {"enabled": True, "minNodeCount": 2, "maxNodeCount": 9},
        "status": "RUNNING",
        "version": "1.35.2-gke.1",
        "config": {"machineType": "e2-standard-4", "consolidationDelay": "600s"},
    },
    {"name": "web-pool", "autoscaling": {}, "status": "RECONCILING", "placementPolicy": {"type": "COMPACT"}},
]


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    return dumps.write(tmp_path / "dump.json", 12)


def read(dump: Path, content: Any) -> Snapshot:
    path = dump.with_name("pools.json")
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return gather(Sources((dump,), node_pools=path)).snapshot


def test_a_list_of_node_pools_has_their_autoscaling_minimums_and_versions(dump: Path) -> None:
    found = read(dump, POOLS)

    assert found.pools_known
    default, web = found.pools["default-pool"], found.pools["web-pool"]
    assert (default.autoscaled, default.min_per_zone, default.version) == (True, 2, "1.35.2-gke.1")
    assert default.consolidation_delay is not None
    assert default.consolidation_delay.total_seconds() == 600
    assert web == NodePool("web-pool", autoscaled=False, upgrading=True, compact=True)


def test_a_described_cluster_has_the_profile_and_the_minimum_resources_too(dump: Path) -> None:
    scaling = {
        "autoscalingProfile": "OPTIMIZE_UTILIZATION",
        "resourceLimits": [{"resourceType": "cpu", "minimum": "4", "maximum": "99"}],
    }
    found = read(dump, {"name": "c", "nodePools": POOLS, "autoscaling": scaling})

    assert (found.profile, found.minimum.get(CPU)) == ("OPTIMIZE_UTILIZATION", 4000)


def test_without_a_profile_in_the_file_that_of_the_pods_counts(dump: Path) -> None:
    text = dump.read_text().replace(
        '"containers"', '"schedulerName": "gke.io/optimize-utilization-scheduler", "containers"'
    )
    dump.write_text(text)
    assert read(dump, POOLS).profile == "OPTIMIZE_UTILIZATION"


@cases(
    "expected, content",
    ("another cluster", "lacks web-pool of dump.json; write it again: gcloud container", POOLS[:1]),
    ("a table", "Failed to load JSON", "NAME  MACHINE_TYPE"),
    ("a wrong type", "nodePools field: Failed to parse name field", [{"name": 3}]),
    ("something else of gcloud", "it has no nodePools", {"name": "c"}),
)
def test_another_file_is_refused_with_place_and_remedy(expected: str, content: Any, dump: Path) -> None:
    with pytest.raises(BadInput, match=expected) as refused:
        read(dump, content)
    assert str(refused.value).startswith("--node-pools: ")
    assert "\n" not in str(refused.value)


def test_several_clusters_have_no_file_in_common(dump: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text(dump.read_text().replace("gke-prod", "gke-stage").replace("gce://p/", "gce://q/"))
    path = tmp_path / "pools.json"
    path.write_text(json.dumps(POOLS))
    with pytest.raises(BadInput, match="of one cluster"):
        gather(Sources((dump, other), node_pools=path))
