"""Selectors, affinity, taints and tolerations: the API's words into `shared.core.cluster.selectors`.

What the core's types cannot express is returned by name and never dropped in silence.
"""

from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Final

from shared.adapters.kubernetes import wire
from shared.adapters.kubernetes.malformed_objects import RawPart
from shared.core.cluster.selectors import (
    Labels,
    LabelSelector,
    NodeTerm,
    PodTerm,
    Requirement,
    SpreadConstraint,
    Toleration,
)


class NodeSelectorTerm(wire.Partial, frozen=True):
    match_expressions: tuple[Requirement, ...] | None = None
    match_fields: tuple[Requirement, ...] | None = None


class NodeSelector(wire.Partial, frozen=True):
    node_selector_terms: list[NodeSelectorTerm] | None = None


class NodeAffinity(wire.Partial, frozen=True):
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None


class PodAffinityTerm(wire.Partial, frozen=True):
    topology_key: str = ""
    label_selector: wire.LabelSelector | None = None
    namespaces: list[str] | None = None
    namespace_selector: wire.LabelSelector | None = None
    match_label_keys: list[str] | None = None
    mismatch_label_keys: list[str] | None = None


class PodAffinity(wire.Partial, frozen=True):
    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] | None = None


class Affinity(wire.Partial, frozen=True):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class TopologySpreadConstraint(wire.Partial, frozen=True):
    topology_key: str = ""
    when_unsatisfiable: str = ""
    max_skew: int = 0
    min_domains: int | None = None
    label_selector: wire.LabelSelector | None = None
    match_label_keys: list[str] | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None


_POLICIES: Final = (None, "Honor", "Ignore")
_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")
_NONE: Final = Affinity()
_affinity: Final = RawPart("spec.affinity", Affinity)
_tolerations: Final = RawPart("spec.tolerations", tuple[Toleration, ...])
_spread: Final = RawPart("spec.topologySpreadConstraints", list[TopologySpreadConstraint])


def label_selector(selector: wire.LabelSelector | None) -> LabelSelector | None:
    """Return the selector with its labels as `In` requirements; None stays None and matches nothing."""
    if selector is None:
        return None
    labels = sorted((selector.match_labels or {}).items())
    equal = tuple(Requirement(key, "In", (value,)) for key, value in labels)
    return LabelSelector(equal + (selector.match_expressions or ()))


@lru_cache(maxsize=1024)
def tolerations(raw: bytes) -> tuple[Toleration, ...]:
    return _tolerations.read(raw) or ()


@lru_cache(maxsize=1024)
def hard_spread(raw: bytes) -> tuple[SpreadConstraint, ...]:
    """Return the spread constraints that the scheduler enforces."""
    hard = (row for row in _spread.read(raw) or () if row.when_unsatisfiable == "DoNotSchedule")
    return tuple(map(_spread_constraint, hard))


@lru_cache(maxsize=1024)
def unknown_spread(raw: bytes) -> tuple[str, ...]:
    """Return the fields of spread constraints whose value is a word that this version does not know."""
    return tuple(sorted({field for constraint in _spread.read(raw) or () for field in _unknown_parts(constraint)}))


def _unknown_parts(given: TopologySpreadConstraint) -> Iterator[str]:
    expressions = given.label_selector.match_expressions if given.label_selector else None
    words: tuple[tuple[str, str | None, Collection[str | None]], ...] = (
        ("whenUnsatisfiable", given.when_unsatisfiable, ("DoNotSchedule", "ScheduleAnyway")),
        ("nodeAffinityPolicy", given.node_affinity_policy, _POLICIES),
        ("nodeTaintsPolicy", given.node_taints_policy, _POLICIES),
        *(("labelSelector", expression.operator, _OPERATORS) for expression in expressions or ()),
    )
    return (f"topologySpreadConstraints.{field}: {word}" for field, word, known in words if word not in known)


def _spread_constraint(given: TopologySpreadConstraint) -> SpreadConstraint:
    return SpreadConstraint(
        given.topology_key,
        label_selector(given.label_selector),
        given.max_skew,
        given.min_domains or 1,
        tuple(given.match_label_keys or ()),
        honours_affinity=given.node_affinity_policy != "Ignore",
        honours_taints=given.node_taints_policy == "Honor",
    )


def affinity(raw: bytes) -> Affinity:
    return _affinity.read(raw) or _NONE


def node_terms(given: Affinity, *, pinned: bool = False) -> tuple[NodeTerm, ...] | None:
    """Return the required node affinity, or None without one.

    `pinned`: the pod is a DaemonSet's, whose controller wrote the pod's own node into the field expressions. They
    are left out, so that the pods of one DaemonSet stay of one kind; such pods never move.
    """
    required = given.node_affinity.required_during_scheduling_ignored_during_execution if given.node_affinity else None
    if required is None:
        return None
    terms = selector_terms(required, pinned=pinned)
    return None if pinned and any(not term.expressions for term in terms) else terms


def selector_terms(given: NodeSelector, *, pinned: bool = False) -> tuple[NodeTerm, ...]:
    """Return the terms, those of a pinned pod without their field expressions."""
    return tuple(
        NodeTerm(term.match_expressions or (), () if pinned else term.match_fields or ())
        for term in given.node_selector_terms or ()
    )


def pod_terms(given: PodAffinity | None, namespace: str, labels: Labels) -> tuple[PodTerm, ...]:
    """Return the required terms of a pod with these labels; one that names no namespace means the pod's own."""
    terms = given.required_during_scheduling_ignored_during_execution if given else None
    return tuple(_pod_term(term, namespace, labels) for term in terms or ())


def _pod_term(term: PodAffinityTerm, namespace: str, labels: Labels) -> PodTerm:
    own = (namespace,) if not term.namespaces and term.namespace_selector is None else ()
    return PodTerm(
        topology_key=term.topology_key,
        selector=_with_label_keys(term, labels),
        namespaces=own or tuple(term.namespaces or ()),
        namespace_selector=label_selector(term.namespace_selector),
    )


def _with_label_keys(term: PodAffinityTerm, labels: Labels) -> LabelSelector | None:
    """Return the selector with the pod's own labels that matchLabelKeys and mismatchLabelKeys name.

    The API server writes them into a pod when it is created (1.29 and later); one that it has not seen lacks them.
    """
    selector = label_selector(term.label_selector)
    if selector is None:
        return None
    asked = [(key, "In") for key in term.match_label_keys or ()]
    asked += [(key, "NotIn") for key in term.mismatch_label_keys or ()]
    written = {(known.key, known.operator) for known in selector.requirements if len(known.values) == 1}
    missing = (row for row in asked if row[0] in labels and row not in written)
    return LabelSelector(selector.requirements + tuple(Requirement(key, how, (labels[key],)) for key, how in missing))
