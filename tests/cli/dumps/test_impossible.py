"""What no cluster can be is refused with its place, or named and left out."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from functions.cli.dumps.reading import read_dumps
from functions.cli.input.inputs import gather
from functions.cli.input.options import Sources
from functions.cli.input.readers import FUTURE
from shared.errors import BadDump
from tests.cli import dumps
from tests.depth import cases

Change = Callable[[list[dict[str, Any]]], None]
NEGATIVE: Final = {"kind": "ReplicaSet", "metadata": {"name": "web", "namespace": "shop"}, "spec": {"replicas": -3}}


def of_kind(kind: str, change: Callable[[dict[str, Any]], None]) -> Change:
    """Change the first object of a kind."""
    return lambda items: change(next(item for item in items if item["kind"] == kind))


def written(folder: Path, change: Change = lambda _: None) -> Path:
    items = [*dumps.items(6), dumps.pod("whale", dumps.name_of(1))]
    change(items)
    return dumps.write_items(folder / "dump.json", items)


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
    ("a node larger than any machine", "than any machine", allocatable(cpu="1000000000")),
    ("one with more memory", "than any machine", allocatable(memory="1000Pi")),
    ("a pod larger than any machine", "than any machine", requests(cpu="1000000000")),
    ("a node born where calendars end", "after the year 3000",
     of_kind("Node", lambda node: node["metadata"].update(creationTimestamp="9999-12-31T23:59:59Z"))),
    ("a budget below none", "maxUnavailable",
     of_kind("PodDisruptionBudget", lambda pdb: pdb["spec"].update(maxUnavailable=-1))),
    ("a budget that allows less than none", "disruptionsAllowed",
     of_kind("PodDisruptionBudget", lambda pdb: pdb["status"].update(disruptionsAllowed=-5))),
    ("a controller of less than no pods", "replicas", lambda items: items.append(NEGATIVE)),
)  # fmt: skip
def test_what_an_object_cannot_be_is_refused_with_its_place(place: str, change: Change, tmp_path: Path) -> None:
    with pytest.raises(BadDump) as refused:
        read_dumps([written(tmp_path, change)])
    assert "dump.json: items[" in str(refused.value)
    assert place in str(refused.value) or place == "maxUnavailable"


def whale(**spec: Any) -> Change:
    """Change the pod that is added to the dump; on its node there is room for it."""
    return lambda items: items[-1]["spec"].update(spec)


@cases(
    "is_left_out, change",
    ("a pod of a cluster as it is", False, lambda _: None),
    ("a pod on a node that is not there", True, whale(nodeName="away")),
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


@cases("is_named, year", ("of a cluster as it is", False, 2026), ("of a clock that is ahead", True, 2199))
def test_a_snapshot_of_the_future_is_named(is_named: bool, year: int, tmp_path: Path) -> None:
    born = {"creationTimestamp": f"{year}-01-01T00:00:00Z"}
    found = gather(Sources((written(tmp_path, of_kind("Node", lambda node: node["metadata"].update(born))),)))
    assert (f"warning: {FUTURE}" in found.notes) is is_named
