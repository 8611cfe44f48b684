"""Pod templates: the class of the pods that a controller, or the autoscaler, makes of one.

A template is folded like a pod, except that the API server writes limits into the requests of pods alone, and that a
node's name in it is a rule: in a pod it is where the pod was bound.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Final

import msgspec
from msgspec import structs

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.containers import SIDECAR, parse
from shared.adapters.kubernetes.fold import pod_class
from shared.adapters.kubernetes.odd_objects import RawPart
from shared.core.cluster import names
from shared.core.cluster.pod import PodClass
from shared.core.cluster.requests import Container, ContainerRequests
from shared.core.cluster.resources import NOTHING, Resources
from shared.core.cluster.selectors import NO_LABELS, Labels

_READ: Final = (names.SURGE_STAMP, names.STEERED)
"""The annotations that are read of a template for itself."""


class TemplateResources(wire.Partial, frozen=True):
    requests: msgspec.Raw = wire.ABSENT
    limits: msgspec.Raw = wire.ABSENT


class TemplateContainer(wire.Partial, frozen=True):
    name: str = ""
    resources: TemplateResources | None = None
    restart_policy: str | None = ""


class TemplateRequests(wire.Partial, frozen=True):
    """What of a template's spec is read otherwise than of a pod's."""

    containers: list[TemplateContainer] | None = None
    init_containers: list[TemplateContainer] | None = None
    overhead: msgspec.Raw = wire.ABSENT
    resources: TemplateResources | None = None


class Template(wire.Partial, frozen=True):
    metadata: wire.PodMeta = wire.PodMeta()
    spec: msgspec.Raw = wire.ABSENT

    def annotation(self, key: str) -> str:
        """Return an annotation's value; empty without one."""
        return (self.metadata.annotations or {}).get(key, "")

    def kept(self) -> "Template":
        """Return what is read of the template, in memory of its own: without the page on which it stands."""
        notes = {key: self.annotation(key) for key in _READ if self.annotation(key)}
        meta = structs.replace(self.metadata, labels=self.metadata.labels.copy(), annotations=notes)
        return Template(meta, self.spec.copy())


_spec: Final = RawPart("template.spec", wire.PodSpec)
_asked: Final = RawPart("template.spec", TemplateRequests)
_quantities: Final = RawPart("template.spec.resources", wire.Quantities)
_labels: Final = RawPart("template.metadata.labels", dict[str, str])


def template_class(
    template: Template, namespace: str, owner: wire.OwnerReference | None = None, labels: Labels = NO_LABELS
) -> PodClass:
    """Return the class of the pods that are made of a template; `labels` are those that its controller adds.

    Raises:
        BadInput: a part is not of the API's shape, or a quantity cannot be read.
    """
    meta = structs.replace(template.metadata, namespace=namespace, owner_references=[owner] if owner else None)
    if labels:
        merged = {**(_labels.read(meta.labels) or {}), **labels}
        meta = structs.replace(meta, labels=msgspec.Raw(msgspec.json.encode(merged)))
    spec = _spec.read(template.spec) or wire.PodSpec()
    made = pod_class(wire.Pod(meta, structs.replace(spec, node_name="")), _requests(template.spec))
    return replace(made, node_name=spec.node_name) if spec.node_name else made


def _requests(spec: msgspec.Raw) -> ContainerRequests:
    given = _asked.read(spec) or TemplateRequests()
    rows = (*_rows(given.containers, init=False), *_rows(given.init_containers, init=True))
    return ContainerRequests(rows, parse(bytes(given.overhead)), _amounts(given.resources))


def _rows(given: list[TemplateContainer] | None, *, init: bool) -> Iterator[Container]:
    for each in given or ():
        asked = each.resources or TemplateResources()
        sidecar = init and each.restart_policy == SIDECAR
        yield _container(each.name, bytes(asked.requests), bytes(asked.limits), init=init, sidecar=sidecar)


@lru_cache(maxsize=4096)
def _container(name: str, requests: bytes, limits: bytes, *, init: bool, sidecar: bool) -> Container:
    return Container(name, _filled(requests, limits), init, sidecar, parse(limits))


def _amounts(given: TemplateResources | None) -> Resources:
    return _filled(bytes(given.requests), bytes(given.limits)) if given else NOTHING


@lru_cache(maxsize=4096)
def _filled(requests: bytes, limits: bytes) -> Resources:
    """Return the requests; a limit without a request is one, as the API server writes it into pods."""
    return Resources.parse({**(_quantities.read(limits) or {}), **(_quantities.read(requests) or {})})
