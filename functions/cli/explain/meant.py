"""Which node, pod or workload a person means by a word.

Must not guess: a word that means several things is refused with what they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from functions.cli.analysis.explanation import Matches, matches, names, pods_of
from functions.cli.format import some
from functions.cli.near_names import near
from shared.core.cluster.pod import Pod
from shared.core.rules.situation import Situation
from shared.errors import BadInput


@dataclass(frozen=True, slots=True)
class Meant:
    """A node, one pod, or a workload with its pods."""

    node: str = ""
    pods: tuple[Pod, ...] = ()
    workload: str = ""


def meant(situation: Situation, word: str) -> Meant:
    """Return what is meant.

    Raises:
        BadInput: nothing, or more than one thing.
    """
    found = matches(situation, word)
    meanings = [*(node.name for node in found.nodes), *(pod.key for pod in found.pods), *found.workloads]
    if not meanings:
        raise BadInput(_unknown(situation, word))
    if len(meanings) > 1:
        raise BadInput(f"{word!r} may mean {some(meanings)}; write the whole name.")
    return _only(situation, found)


def _only(situation: Situation, found: Matches) -> Meant:
    if found.workloads:
        (workload,) = found.workloads
        return Meant(workload=workload, pods=pods_of(situation, workload))
    return Meant(pods=found.pods) if found.pods else Meant(node=found.nodes[0].name)


def _unknown(situation: Situation, word: str) -> str:
    pending: Sequence[str] = [pod.key for pod in situation.snapshot.pods if word in {pod.key, pod.name}]
    if pending:
        return f"{pending[0]} is on no node: it keeps none."
    nodes = len(situation.snapshot.nodes)
    remedy = near(word, names(situation)) or "see ebb plan --nodes."
    return f"no node {word!r}, nor pod nor workload, among the {nodes:,} nodes of the cluster; {remedy}"
