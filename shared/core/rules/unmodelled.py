"""May this pod run there? What of the kube-scheduler's filters is modelled, and by what name the rest blocks.

`placement` asks the same of whole clusters at once. A pod with a rule that is not modelled is never assumed to fit.
"""

from collections.abc import Callable, Mapping
from typing import Final

from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod, PodClass
from shared.core.cluster.resources import PODS, Resources
from shared.core.cluster.selectors import NodeTerm, tolerates_all
from shared.core.reasons import Finding, PodBlock
from shared.core.rules.volumes import VOLUME_BLOCKS, VolumeFacts, volume_blocks

ONE_POD: Final = Resources.of({PODS: 1})  # The place that any pod takes on its node.


def is_destination(node: Node) -> bool:
    """Whether new pods may be planned onto the node: Ready, schedulable, neither going, nor worked on, nor outside."""
    going = node.drain_taint is not None or any(node.has_taint(key) for key in names.GOING_TAINTS)
    return node.ready and not node.unschedulable and not going and not node.outside and not node.lifecycle


def admits(spec: PodClass, node: Node) -> bool:
    """Whether taints, node selector, required node affinity and the kubelet let the pod onto the node."""
    selected = all(node.labels.get(key) == value for key, value in spec.node_selector.items())
    terms = spec.node_terms
    wanted = terms is None or any(term.matches(node.labels, node.name) for term in terms)
    able = spec.can_run_under(node.kubelet, node.os)
    return selected and wanted and able and tolerates_all(node.taints, spec.tolerations)


def could_take(node: Node, pod: Pod) -> bool:
    needs = pod.requests + ONE_POD
    return is_destination(node) and needs.fits(node.allocatable) and admits(pod.spec, node)


def pinned_to_one_node(spec: PodClass) -> str | None:
    """Return the one node that template, selector or affinity name, or None when the pod may run elsewhere."""
    if spec.node_name:
        return spec.node_name
    named = spec.node_selector.get(names.HOSTNAME_LABEL)
    if named is not None:
        return named
    pins = {_pinned_node(term) for term in spec.node_terms or ()}
    return pins.pop() if len(pins) == 1 else None


def _pinned_node(term: NodeTerm) -> str | None:
    asked = (*term.fields, *(expression for expression in term.expressions if expression.key == names.HOSTNAME_LABEL))
    return next((field.values[0] for field in asked if field.operator == "In" and len(field.values) == 1), None)


UnmodelledQuestion = Callable[[PodClass], str | None]
UNMODELLED: Final[tuple[tuple[PodBlock, UnmodelledQuestion], ...]] = (
    (PodBlock.NAMES_ITS_NODE, pinned_to_one_node),
    (PodBlock.FOREIGN_SCHEDULER, lambda spec: None if spec.scheduler in names.SCHEDULERS else spec.scheduler),
    (PodBlock.SCHEDULING_GATES, lambda spec: ", ".join(spec.scheduling_gates) or None),
    (PodBlock.RESOURCE_CLAIMS, lambda spec: ", ".join(spec.resource_claims) or None),
    (PodBlock.UNMODELLED, lambda spec: ", ".join(spec.unmodelled) or None),
)


_FIELDS: Final[Mapping[PodBlock, frozenset[str]]] = {
    PodBlock.NAMES_ITS_NODE: frozenset({"nodeName", "nodeSelector", "affinity"}),
    PodBlock.FOREIGN_SCHEDULER: frozenset({"schedulerName"}),
    PodBlock.SCHEDULING_GATES: frozenset({"schedulingGates"}),
    PodBlock.RESOURCE_CLAIMS: frozenset({"resourceClaims"}),
    **{reason: frozenset({"volumes"}) for reason, _ in VOLUME_BLOCKS},
}
"""The API's fields that each is about."""


def find_unmodelled(spec: PodClass, volumes: VolumeFacts | None) -> tuple[Finding, ...]:
    """Return everything in the pod's spec that placement does not model, each by its name; empty = may be placed."""
    asked = ((reason, question(spec)) for reason, question in UNMODELLED)
    found = (Finding(reason, detail) for reason, detail in asked if detail is not None)
    return tuple(_name_template(spec, finding) for finding in (*found, *volume_blocks(spec, volumes)))


def _name_template(spec: PodClass, found: Finding) -> Finding:
    """Return the finding; if it is about what the pod's template adds, that is named."""
    fields = [add for add in spec.template_adds if add in _FIELDS.get(found.reason, ())]
    return Finding(found.reason, f"{found.detail} ({', '.join(fields)} of its template)") if fields else found
