"""Pod templates: the class of the pods that a controller, or the autoscaler, makes of one.

A template is folded like a pod, except that the API server writes limits into the requests of pods alone, and that a
node's name in it is a rule: in a pod it is where the pod was bound.
"""

from dataclasses import replace
from typing import Final

import msgspec
from msgspec import structs

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.containers import TemplateRequests, requests_of
from shared.adapters.kubernetes.malformed_objects import RawPart
from shared.adapters.kubernetes.pod_objects import pod_class
from shared.core.cluster import names
from shared.core.cluster.pod import PodClass
from shared.core.cluster.selectors import NO_LABELS, Labels

_READ: Final = (names.SURGE_STAMP, names.STEERED)  # The annotations that are read of a template for itself.


class Template(wire.Partial, frozen=True):
    metadata: wire.PodMeta = wire.PodMeta()
    spec: msgspec.Raw = wire.ABSENT

    def annotation(self, key: str) -> str:
        """Return an annotation's value; empty without one."""
        return (self.metadata.annotations or {}).get(key, "")

    def copy(self) -> "Template":
        """Return what is read of the template, in memory of its own: without the page on which it stands."""
        notes = {key: self.annotation(key) for key in _READ if self.annotation(key)}
        meta = structs.replace(self.metadata, labels=self.metadata.labels.copy(), annotations=notes)
        return Template(meta, self.spec.copy())


_spec: Final = RawPart("template.spec", wire.PodSpec)
_asked: Final = RawPart("template.spec", TemplateRequests)
_labels: Final = RawPart("template.metadata.labels", dict[str, str])


def template_class(
    template: Template, namespace: str, owner: wire.OwnerReference | None = None, labels: Labels = NO_LABELS
) -> PodClass:
    """Return the class of a template's pods; `labels` are those that its controller adds. Raises BadInput."""
    meta = structs.replace(template.metadata, namespace=namespace, owner_references=[owner] if owner else None)
    if labels:
        merged = {**(_labels.read(meta.labels) or {}), **labels}
        meta = structs.replace(meta, labels=msgspec.Raw(msgspec.json.encode(merged)))
    spec = _spec.read(template.spec) or wire.PodSpec()
    asks = requests_of(_asked.read(template.spec) or TemplateRequests())
    made = pod_class(wire.Pod(meta, structs.replace(spec, node_name="")), asks)
    return replace(made, node_name=spec.node_name) if spec.node_name else made
