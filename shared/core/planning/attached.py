"""What is attached to a node's machine and priced beside it: GPUs and local SSDs, as labels and allocatable tell them.

Must not price them: `prices` does.
"""

from typing import Final, NamedTuple

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.resources import GPU

EPHEMERAL: Final = "ephemeral-storage"
_DISK: Final = 375 * 10**9


class Extras(NamedTuple):
    """GPUs of one kind and local SSDs; `guessed` where their number is not told."""

    gpu: str = ""
    gpus: int = 0
    disks: int = 0
    guessed: bool = False


def attached(node: Node) -> Extras:
    """Return what is attached to the node."""
    gpu, labels = node.labels.get(names.GPU_LABEL, ""), node.labels
    gpus = _gpus(node) if gpu else 0
    if labels.get(names.EPHEMERAL_SSD_LABEL) == "true":
        return Extras(gpu, gpus, max(-(-node.allocatable.get(EPHEMERAL) // _DISK), 1))
    raw = labels.get(names.RAW_SSD_LABEL) == "true"
    return Extras(gpu, gpus, int(raw), guessed=raw)


def _gpus(node: Node) -> int:
    """Return how many there are; one that several pods share is offered several times."""
    written, shared = node.labels.get(names.GPU_COUNT_LABEL, ""), node.labels.get(names.GPU_CLIENTS_LABEL, "")
    if written.isdecimal():
        return int(written)
    offered = node.allocatable.get(GPU)
    return -(-offered // max(int(shared), 1)) if shared.isdecimal() else offered
