"""What `--potential` finds on Alibaba's openb trace (EBB_OPENB), by cost, against the bound; checked pod by pod."""

import csv
import os
from pathlib import Path
from random import Random

import numpy as np

from functions.cli.analysis.potential import potential
from shared.adapters.prices import load
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.snapshot import Snapshot
from shared.core.records.state import ClusterState
from shared.core.rules.situation import Situation
from tests.bench.bound_of import bound_of
from tests.builders import cluster, node, pod, pod_class, policy
from tests.measured_figures import say, timed
from tests.placement_checker import faults

GPU = "nvidia.com/gpu"


def run(*, quick: bool) -> None:
    folder = os.environ.get("EBB_OPENB")
    if folder and not quick:
        for keep in (0.5, 0.7, 0.85):
            _judge(f"openb, {keep:.0%} of its pods", openb(Path(folder), keep), "92%")


def _judge(name: str, snapshot: Snapshot, goal: str) -> None:
    seconds, found = timed(lambda: potential(Situation(snapshot, ClusterState(), policy()), load()))
    bound = bound_of(snapshot)
    assert faults(snapshot, {move.pod: move.node for move in found.moves}, set(found.nodes)) == []
    assert found.saving <= bound + 1, (found.saving, bound)
    share = found.saving / bound if bound > 0 else 1.0
    what = f"{name}: {len(found.nodes)} of {len(snapshot.nodes)} nodes go, {seconds:.1f} CPU s"
    say(what, f"{share:.1%} of the bound", goal)


def openb(folder: Path, keep: float) -> Snapshot:
    """The nodes and pods of Alibaba's openb trace: all pods placed evenly, whatever their times, then thinned."""
    roll = Random(7)  # noqa: S311 - a world that is the same every time
    nodes = [_openb_node(row) for row in _rows(folder / "openb_node_list_all_node.csv")]
    free = np.array([[node.allocatable.cpu, node.allocatable.memory, node.allocatable.get(GPU)] for node in nodes])
    whole, pods, kinds = np.maximum(free.copy(), 1), list[Pod](), dict[tuple[int, int, int], PodClass]()
    for number, row in enumerate(_rows(folder / "openb_pod_list_default.csv")):
        asked = (int(row["cpu_milli"]), int(row["memory_mib"]), int(row["num_gpu"]) * int(row["gpu_milli"] or 0))
        need = np.array([asked[0], asked[1] * 1024**2, asked[2]])
        fits = (free >= need).all(axis=1)
        if not fits.any():
            continue
        target = int(
            np.where(fits, (free / whole)[:, :2].min(axis=1) - (free[:, 2] > 0) * (asked[2] == 0), -9).argmax()
        )
        free[target] -= need
        if roll.random() < keep:
            kind = kinds.setdefault(asked, _openb_class(asked, len(kinds)))
            pods.append(pod(f"p{number:05}", on=nodes[target].name, kind=kind))
    return cluster(nodes, pods, namespaces={"default": {}})


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def _openb_node(row: dict[str, str]) -> Node:
    cpu, memory = int(row["cpu_milli"]) / 1000, int(row["memory_mib"]) / 1024
    plain = node(row["sn"], cpu=cpu, memory=memory, pods=1000, machine="")
    gpus = {GPU: int(row["gpu"]) * 1000} if int(row["gpu"]) else {}
    return node(row["sn"], machine="", allocatable=plain.allocatable + type(plain.allocatable).of(gpus))


def _openb_class(asked: tuple[int, int, int], number: int) -> PodClass:
    plain = pod_class(owner=f"ReplicaSet/r{number}", cpu=asked[0] / 1000, memory=asked[1] / 1024)
    gpu = {GPU: asked[2]} if asked[2] else {}
    requests = plain.requests + type(plain.requests).of(gpu)
    return pod_class(owner=f"ReplicaSet/r{number}", requests=requests)
