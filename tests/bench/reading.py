"""Decoding and folding a list of pods, against the kubernetes client's models on bytes of the same kind."""

import resource
from multiprocessing import get_context
from statistics import median
from time import process_time
from typing import Final

import msgspec
from kubernetes.client import ApiClient

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.pod_objects import PodDecoder
from shared.core.cluster.pod import Pod
from tests.bench.pages import pod_pages
from tests.measured_figures import say

_TIMES: Final = 3
"""How often each side is measured; the median counts, for one run varies by a third."""
_decoder = msgspec.json.Decoder(wire.Page[wire.Pod])


def run(*, quick: bool) -> None:
    nodes, pods, peers = (500, 15_000, 500) if quick else (5_000, 150_000, 2_000)
    with get_context("forkserver").Pool(1, maxtasksperchild=1) as fresh:
        runs = [fresh.apply(measured, (nodes, pods)) for _ in range(_TIMES)]
    ours, (_, size, peak) = median(seconds for seconds, _, _ in runs), runs[0]
    theirs = median(_client_models(nodes, peers) for _ in range(_TIMES))
    say(f"{pods:,} pods ({size / pods:,.0f} bytes each): decode and fold", f"{ours:.2f} CPU s", "-")
    say(
        "CPU a pod: kubernetes client's models / ours",
        f"{theirs / peers / (ours / pods):.0f} times",
        "35 times at least",
    )
    say("peak memory it adds / bytes on the wire", f"{peak / size:.2f}", "0.25 at most")


def measured(nodes: int, pods: int) -> tuple[float, int, int]:
    """Return CPU seconds, bytes read and bytes of memory added, in a process that does nothing else."""
    next(iter(pod_pages(nodes, 500)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    seconds, size, _ = read(nodes, pods)
    return seconds, size, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before


def read(nodes: int, pods: int) -> tuple[float, int, list[Pod]]:
    """Read all pages as the adapter does; making them is not counted."""
    folder, found = PodDecoder(), list[Pod]()
    seconds, size = 0.0, 0
    for page in pod_pages(nodes, pods):
        began = process_time()
        found.extend(map(folder.decode, _decoder.decode(page).items or ()))
        seconds += process_time() - began
        size += len(page)
    return seconds, size, found


def _client_models(nodes: int, pods: int) -> float:
    client, pages = ApiClient(), [page.decode() for page in pod_pages(nodes, pods)]
    began = process_time()
    for page in pages:
        client.deserialize(page, "V1PodList", "application/json")
    return process_time() - began
