"""What no cluster can be is refused with its place, or named and left out."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from functions.cli.dumps.reading import DumpedCluster, read_dumps
from functions.cli.input.inputs import gather
from functions.cli.input.missing_data import drop_impossible
from functions.cli.input.options import Sources
from shared.errors import BadDump
from tests.builders import NOW
from tests.cli import dumps
from tests.depth import cases

Change = Callable[[list[dict[str, Any]]], None]
NEGATIVE: Final = {"kind": "ReplicaSet", "metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": -3}}
LATER: Final = "2099-01-01T00:00:00Z"


def of_kind(kind: str, change: Callable[[dict[str, Any]], None]) -> Change:
    """Change the first object of a kind."""
    return lambda items: change(next(item for item in items if item["kind"] == kind))


def written(folder: Path, change: Change = lambda _: None) -> Path:
    items = [*dumps.items(6), dumps.pod("whale", dumps.name_of(1))]
    change(items)
    return dumps.write_items(folder / "dump.json", items)


def read(path: Path, **now: Any) -> DumpedCluster:
    (found,) = read_dumps([path], now=NOW, **now)
    return found


def allocatable(**amounts: Any) -> Change:
    return of_kind("Node", lambda node: node["status"]["allocatable"].update(amounts))


def requests(**amounts: Any) -> Change:
    return of_kind("Pod", lambda pod: pod["spec"]["containers"][0]["resources"]["requests"].update(amounts))


@cases(
    "place, change",
    ("a node with less than no CPU", "cpu: -4", allocatable(cpu="-4")),
    ("a node with less than no pods", "pods: -1", allocatable(pods="-1")),
    ("a node with what is no number", "'NaN'", allocatable(memory="NaN")),
    ("a pod with less than no memory", "memory: -1Gi", requests(memory="-1Gi")),
    ("a budget below none", "maxUnavailable",
     of_kind("PodDisruptionBudget", lambda pdb: pdb["spec"].update(maxUnavailable=-1))),
    ("a budget that allows less than none", "disruptionsAllowed",
     of_kind("PodDisruptionBudget", lambda pdb: pdb["status"].update(disruptionsAllowed=-5))),
    ("a controller of less than no pods", "replicas", lambda items: items.append(NEGATIVE)),
)  # fmt: skip
def test_what_an_object_cannot_be_is_refused_with_its_place(place: str, change: Change, tmp_path: Path) -> None:
    with pytest.raises(BadDump) as refused:
        read(written(tmp_path, change))
    assert "dump.json: items[" in str(refused.value)
    assert place in str(refused.value) or place == "maxUnavailable"


def whale(**spec: Any) -> Change:
    """Change the pod that is added to the dump; on its node there is room for it."""
    return lambda items: items[-1]["spec"].update(spec)


def asking(cpu: str) -> Change:
    return whale(containers=[{"name": "main", "resources": {"requests": {"cpu": cpu}}}])


@cases(
    "is_left_out, change",
    ("a pod of a cluster as it is", False, lambda _: None),
    ("a pod on a node that is not there", True, whale(nodeName="away")),
    ("a pod that is larger than its node", True, asking("1000000000")),
    ("a pod on a node that offers less since it was set up again", False, asking("6")),
    ("a pod without a node", False, whale(nodeName="")),
    ("a finished pod whose node is gone", False,
     lambda items: items[-1].update(spec={**items[-1]["spec"], "nodeName": "away"}, status={"phase": "Succeeded"})),
)  # fmt: skip
def test_a_pod_that_cannot_be_where_it_is_is_named_and_left_out(
    is_left_out: bool, change: Change, tmp_path: Path
) -> None:
    found = gather(Sources((written(tmp_path, change),)))
    named = [note for note in found.notes if "shop/whale" in note and note.startswith("warning: Left out: 1 pod")]
    assert bool(named) is is_left_out
    assert ("shop/whale" in {pod.key for pod in found.snapshot.pods}) is not is_left_out


@pytest.mark.parametrize("amounts", [{"cpu": "1000000000"}, {"memory": "1000Pi"}], ids=str)
def test_a_node_larger_than_any_machine_is_left_out_with_its_pods(amounts: dict[str, str], tmp_path: Path) -> None:
    found = gather(Sources((written(tmp_path, allocatable(**amounts)),)))
    named = [note for note in found.notes if note.startswith("warning: Left out: ")]
    assert [dumps.name_of(0) in note for note in named] == [True, False]
    assert len(found.snapshot.nodes) == 5
    assert {pod.node for pod in found.snapshot.pods} <= found.snapshot.node_by_name.keys()


def test_a_node_that_offers_nothing_yet_keeps_its_pods(tmp_path: Path) -> None:
    found = gather(Sources((written(tmp_path, allocatable(cpu="0", memory="0")),)))
    assert not [note for note in found.notes if "Left out" in note]


@cases(
    "change",
    ("a node's birth", of_kind("Node", lambda node: node["metadata"].update(creationTimestamp=LATER))),
    ("its heartbeat",
     of_kind("Node", lambda node: node["status"]["conditions"][0].update(lastHeartbeatTime=LATER))),
    ("a pod's start", lambda items: items[-1]["status"].update(startTime=LATER)),
)  # fmt: skip
def test_a_time_in_the_future_neither_dates_the_snapshot_nor_makes_anything_young(
    change: Change, tmp_path: Path
) -> None:
    plain, found = read(written(tmp_path)), read(written(tmp_path, change))
    reading, (sentence,) = drop_impossible(found.reading, found.newest, found.future)
    assert found.newest == plain.newest
    assert found.future[0] in sentence
    assert all(node.created <= found.newest for node in reading.nodes)
    assert all(pod.started is None or pod.started <= found.newest for pod in reading.pods)


def test_a_clock_that_is_behind_the_whole_dump_is_not_believed(tmp_path: Path) -> None:
    path = written(tmp_path)
    (found,) = read_dumps([path], now=NOW - timedelta(days=400))
    assert (found.future, found.newest) == ((), read(path).newest)


def test_of_a_cluster_as_it_is_nothing_is_set_right(tmp_path: Path) -> None:
    found = read(written(tmp_path))
    assert drop_impossible(found.reading, found.newest, found.future) == (found.reading, ())
