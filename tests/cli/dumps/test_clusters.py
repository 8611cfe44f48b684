"""Two clusters are never read as one, whatever files they come in; one cluster stays one."""

from pathlib import Path
from typing import Any

import pytest

from functions.cli.dumps.homes import PlacedNode, home_of
from functions.cli.dumps.reading import DumpedCluster, read_dump, read_dumps
from shared.adapters.kubernetes import wire
from shared.core.cluster.names import KUBE_SYSTEM, POOL_LABEL
from shared.errors import BadDump
from tests.cli.dumps.test_reading import BUDGET, a_node, a_pod, listed, write
from tests.depth import cases

POOL = "web-pool"


def node(name: str, *, project: str = "shop", zone: str = "europe-west4-a", pool: str = POOL) -> dict[str, Any]:
    found = a_node(name)
    found["metadata"]["labels"] = {POOL_LABEL: pool}
    found["spec"]["providerID"] = f"gce://{project}/{zone}/{name}"
    return found


def named(cluster: str, number: int, pool: str = POOL) -> str:
    return f"gke-{cluster}-{pool}-1a2b3c4d-{number:04}"


def kube_system(uid: str) -> dict[str, Any]:
    return {"kind": "Namespace", "metadata": {"name": KUBE_SYSTEM, "uid": uid}}


def elsewhere(number: int) -> dict[str, Any]:
    return a_node(f"ip-10-0-0-{number}.internal")


def on(node: str, name: str = "web-1") -> dict[str, Any]:
    found = a_pod(name)
    found["spec"]["nodeName"] = node
    return found


PROD, PROD_2, STAGE = node(named("prod", 1)), node(named("prod", 2)), node(named("stage", 1))
IN_US = node(named("prod", 9), zone="us-central1-a")
THEIRS = node(named("prod", 9), project="other")
TRUNCATED = node("gke-prod-europe-and-m-api-1a2b3c4d-0001", pool="api")
CUT_SHORT = node("gke-prod-europe-memory-optimi-1a2b3c4d-0001", pool="memory-optimised")


@cases(
    "expected, documents",
    ("two names", [1, 1], ([PROD], [STAGE])),
    ("one name, its nodes printed in two goes", [2], ([PROD], [PROD_2])),
    ("one name in two regions", [1, 1], ([PROD], [IN_US])),
    ("one name in two projects", [1, 1], ([PROD], [THEIRS])),
    ("two zones of a region", [2], ([PROD], [node(named("prod", 9), zone="europe-west4-b")])),
    ("one name, two kube-systems", [1, 1], ([PROD, kube_system("a")], [PROD_2, kube_system("b")])),
    ("elsewhere, the same addresses, two kube-systems", [1, 1],
     ([elsewhere(1), kube_system("a")], [elsewhere(1), kube_system("b")])),
    ("elsewhere, one kube-system", [2], ([elsewhere(1), kube_system("a")], [elsewhere(2), kube_system("a")])),
    ("elsewhere, nothing in common", [1, 1], ([elsewhere(1)], [elsewhere(2)])),
    ("elsewhere, printed twice", [2], ([elsewhere(1)], [elsewhere(1), elsewhere(2)])),
    ("one long name, cut at two places", [2], ([TRUNCATED], [CUT_SHORT])),
    ("three files of two clusters", [2, 1], ([PROD], [STAGE], [PROD_2])),
)  # fmt: skip
def test_clusters_are_kept_apart(expected: list[int], documents: tuple[list[Any], ...], tmp_path: Path) -> None:
    files = [write(tmp_path / f"{number}.json", listed(*items)) for number, items in enumerate(documents)]
    assert [len(one.reading.nodes) for one in read_dumps(files)] == expected


@cases(
    "expected, documents",
    ("by the nodes that they run on", {"prod": ["a"], "stage": ["b"]},
     {"n.json": [PROD], "m.json": [STAGE], "p.json": [on(named("prod", 1), "a")],
      "q.json": [on(named("stage", 1), "b")]}),
    ("by kube-system", {"prod": ["a"], "stage": []},
     {"n.json": [PROD, kube_system("u")], "m.json": [STAGE], "p.json": [on("", "a"), kube_system("u")]}),
    ("by the folder", {"prod": [], "stage": ["a"]},
     {"prod/n.json": [PROD], "stage/n.json": [STAGE], "stage/p.json": [on("", "a")]}),
)  # fmt: skip
def test_pods_printed_by_themselves_go_to_their_cluster(
    expected: dict[str, list[str]], documents: dict[str, list[Any]], tmp_path: Path
) -> None:
    for name, items in documents.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path / name, listed(*items))
    found = read_dumps([tmp_path / name for name in documents])
    assert {one.home.name: [pod.name for pod in one.reading.pods] for one in found} == expected


def test_several_lists_in_one_file_are_kept_apart_too(tmp_path: Path) -> None:
    both = write(tmp_path / "both.json", listed(PROD), listed(BUDGET), listed(STAGE))
    with pytest.raises(BadDump, match=r"any of 2 clusters"):
        read_dumps([both])
    assert len(read_dumps([write(both, listed(PROD), listed(STAGE))])) == 2


def test_what_no_plan_reads_may_be_of_any_cluster(tmp_path: Path) -> None:
    service = {"kind": "Service", "metadata": {"name": "web"}}
    files = [write(tmp_path / f"{number}.json", listed(item)) for number, item in enumerate((PROD, STAGE, service))]
    assert len(read_dumps(files)) == 2


@cases(
    "expected, items",
    ("two names", "holds nodes of two clusters, prod europe-west4 shop and stage europe-west4 shop, in one list",
     [PROD, STAGE]),
    ("two regions", "holds nodes of two clusters", [PROD, IN_US]),
    ("two kube-systems", "holds the namespace kube-system of two clusters",
     [elsewhere(1), kube_system("a"), kube_system("b")]),
)  # fmt: skip
def test_a_list_of_two_clusters_is_refused(expected: str, items: list[Any], tmp_path: Path) -> None:
    path = write(tmp_path / "both.json", listed(*items))
    with pytest.raises(BadDump) as fault:
        read_dumps([path])
    assert str(fault.value).startswith(f"{path}: {expected}")
    assert "print each cluster into a file or folder of its own" in str(fault.value)


def test_where_one_cluster_is_wanted_several_are_named(tmp_path: Path) -> None:
    files = [write(tmp_path / name, listed(item)) for name, item in (("a.json", PROD), ("b.json", STAGE))]
    with pytest.raises(BadDump, match=r"of 2 clusters \(prod europe-west4 shop, stage europe-west4 shop\)"):
        read_dump(files)


@cases(
    "expected, name, pool",
    ("plain", "prod", "gke-prod-web-pool-1a2b3c4d-x1y2", "web-pool"),
    ("a name with hyphens", "prod-eu", "gke-prod-eu-default-pool-1a2b3c4d-x1y2", "default-pool"),
    ("the pool is cut", "prod", "gke-prod-nap-e2-standard-1a2b3c4d-x1y2", "nap-e2-standard-4-1x2y"),
    ("a TPU slice has neither", "", "gke-tpu-1a2b3c4d-x1y2", "v5e"),
    ("no pool", "", "gke-prod-web-pool-1a2b3c4d-x1y2", ""),
    ("another cloud's", "", "ip-10-0-0-1.internal", "web-pool"),
)
def test_a_node_s_name_shows_its_cluster(expected: str, name: str, pool: str) -> None:
    assert home_of(PlacedNode(wire.Meta(name=name, labels={POOL_LABEL: pool}))).name == expected


def test_what_is_read_is_shown_as_it_is_read(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", listed(PROD, *(on(named("prod", 1), f"p{number}") for number in range(3_000))))
    told: list[int] = []
    read_dumps([path], told.append)
    assert len([many for many in told if many]) > 2
    assert 0.9 < sum(told) / path.stat().st_size <= 1


N1, N2 = (elsewhere(number) | {"metadata": a_node(f"n{number}")["metadata"]} for number in (1, 2))
OWN = kube_system("u")  # By which two files are of one cluster.


def placed(node: str, name: str, namespace: str = "default") -> dict[str, Any]:
    found = on(node, name)
    found["metadata"] |= {"namespace": namespace, "uid": f"uid-{name}-{node}"}
    return found


def at(time: str) -> dict[str, Any]:
    """A namespace that was made then dates what it is printed with."""
    return {"kind": "Namespace", "metadata": {"name": f"made-{time}", "creationTimestamp": f"2026-03-04T{time}:00:00Z"}}


def names(found: DumpedCluster) -> tuple[list[str], list[str]]:
    reading = found.reading
    return sorted(node.name for node in reading.nodes), sorted(f"{pod.name}@{pod.node}" for pod in reading.pods)


@cases(
    "older, expected, early, late",
    ("the newer counts: pods were moved, ended and made", 1, (["n1", "n2"], ["a@n2", "c@n1"]),
     [N1, N2, placed("n1", "a"), placed("n1", "b")], [N1, N2, placed("n2", "a"), placed("n1", "c")]),
    ("no pod is the same", 1, (["n1"], ["b@n1"]), [N1, placed("n1", "a")], [N1, placed("n1", "b")]),
    ("no node is the same", 1, (["n2"], ["a@n2"]), [N1, placed("n1", "a")], [N2, placed("n2", "a")]),
    ("a node is gone with its pod", 1, (["n1"], ["a@n1"]), [N1, N2, placed("n1", "a"), placed("n2", "b")],
     [N1, placed("n1", "a")]),
    ("pieces are put together: each with a namespace of its own", 0, (["n1"], ["a@n1", "b@n1"]),
     [N1, placed("n1", "a")], [N1, placed("n1", "b", "other")]),
    ("a node went before the nodes were printed", 0, (["n1"], ["a@n1", "b@n1", "c@n2"]),
     [placed("n1", "a"), placed("n2", "c")], [N1, placed("n1", "b", "other")]),
    ("each with the nodes of a pool and all pods", 0, (["n1", "n2"], ["a@n1", "b@n2"]),
     [N1, placed("n1", "a"), placed("n2", "b")], [N2, placed("n1", "a"), placed("n2", "b")]),
    ("nothing has changed", 0, (["n1", "n2"], ["a@n1"]), [N1, N2, placed("n1", "a")], [N1, N2, placed("n1", "a")]),
)  # fmt: skip
def test_of_two_snapshots_of_one_cluster_the_newer_counts_and_pieces_are_put_together(
    older: int, expected: tuple[list[str], list[str]], early: list[Any], late: list[Any], tmp_path: Path
) -> None:
    files = [
        write(tmp_path / f"{time}.json", listed(*items, OWN, at(time))) for time, items in (("10", early), ("11", late))
    ]
    for order in (files, files[::-1]):
        (found,) = read_dumps(order)
        assert names(found) == expected
        assert [f"{time:%H}" for time, _ in found.older] == ["10"] * older


def test_a_kind_a_file_printed_twice_is_two_snapshots_too(tmp_path: Path) -> None:
    parts = {"10n": [N1, N2], "10p": [placed("n1", "a"), placed("n2", "c")], "11n": [N1], "11p": [placed("n1", "b")]}
    files = [write(tmp_path / f"{name}.json", listed(*items, OWN, at(name[:2]))) for name, items in parts.items()]
    (found,) = read_dumps(files)
    assert names(found) == (["n1"], ["b@n1"])


def test_newer_pods_without_their_nodes_are_refused(tmp_path: Path) -> None:
    files = [
        write(tmp_path / "10.json", listed(N1, N2, placed("n1", "a"), OWN, at("10"))),
        write(tmp_path / "11.json", listed(placed("n2", "a"), OWN, at("11"))),
    ]
    with pytest.raises(BadDump, match="the newer one without nodes; name one of them"):
        read_dumps(files)
