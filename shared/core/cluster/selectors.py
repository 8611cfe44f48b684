"""Selectors, taints and tolerations as the API server and the scheduler match them (kubernetes.io/docs/concepts)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

Labels = Mapping[str, str]
NO_LABELS: Final[Labels] = MappingProxyType({})
NO_SCHEDULE: Final = "NoSchedule"
PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"
NO_EXECUTE: Final = "NoExecute"
_DIGITS: Final = re.compile(r"[0-9]{1,63}")
_MOST: Final = 2**63 - 1


def no_labels() -> Labels:
    return NO_LABELS


@dataclass(frozen=True, slots=True)
class Requirement:
    """One expression `key operator values`; operators In, NotIn, Exists, DoesNotExist, Gt, Lt."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()

    def matches(self, labels: Labels) -> bool:
        value = labels.get(self.key)
        match self.operator:
            case "In":
                return value in self.values
            case "NotIn":
                return value not in self.values
            case "Exists":
                return value is not None
            case "DoesNotExist":
                return value is None
            case "Gt" | "Lt":
                return self._compares(value)
        return False

    def _compares(self, value: str | None) -> bool:
        if value is None or len(self.values) != 1:
            return False
        mine, bound = _integer(value), _integer(self.values[0])
        if mine is None or bound is None:
            return False
        return mine > bound if self.operator == "Gt" else mine < bound


def _integer(value: str) -> int | None:
    """Return the number that the scheduler reads in a label's value, or None: 64 bits, no sign, no underscore."""
    number = int(value) if _DIGITS.fullmatch(value) else _MOST + 1
    return number if number <= _MOST else None


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """All requirements must match; without requirements it matches everything (policy/v1: `{}` selects all)."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Labels) -> bool:
        return all(requirement.matches(labels) for requirement in self.requirements)

    def with_labels(self, labels: Labels) -> "LabelSelector":
        rows = (Requirement(key, "In", (value,)) for key, value in sorted(labels.items()))
        return LabelSelector((*self.requirements, *(row for row in rows if row not in self.requirements)))


@dataclass(frozen=True, slots=True)
class SpreadConstraint:
    """A topology spread constraint that the scheduler enforces. `selector` None counts no pod."""

    topology_key: str
    selector: LabelSelector | None
    max_skew: int = 1
    min_domains: int = 1
    match_label_keys: tuple[str, ...] = ()
    honours_affinity: bool = True  # Whether nodes that the pod's rules exclude are no domains (nodeAffinityPolicy).
    honours_taints: bool = False  # Whether nodes with a taint that it does not tolerate are none (nodeTaintsPolicy).

    def counts(self, labels: Labels) -> bool:
        return self.selector is not None and self.selector.matches(labels)


@dataclass(frozen=True, slots=True)
class NodeTerm:
    """One term of required node affinity: label expressions and field expressions (metadata.name), all of them."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    def matches(self, labels: Labels, name: str) -> bool:
        """Return whether a node matches; a term without any expression matches no node (Kubernetes API)."""
        if not self.expressions and not self.fields:
            return False
        by_label = all(requirement.matches(labels) for requirement in self.expressions)
        return by_label and all(requirement.matches({"metadata.name": name}) for requirement in self.fields)

    def asks_all_of(self, wider: "NodeTerm") -> bool:
        return set(wider.expressions) <= set(self.expressions) and set(wider.fields) <= set(self.fields)

    def join(self, other: "NodeTerm") -> "NodeTerm":
        expressions, fields = self.expressions + other.expressions, self.fields + other.fields
        return NodeTerm(tuple(dict.fromkeys(expressions)), tuple(dict.fromkeys(fields)))


NodeTerms = tuple[NodeTerm, ...] | None  # Any of the terms may match; None = all nodes do.


def intersect_terms(one: NodeTerms, other: NodeTerms) -> NodeTerms:
    """Return terms that match the nodes that both match; `one` itself where it asks for all that `other` does."""
    if one is None or other is None:
        return other if one is None else one
    # A term without any expression matches no node.
    mine, theirs = ([term for term in terms if term.expressions or term.fields] for terms in (one, other))
    if all(any(term.asks_all_of(wider) for wider in theirs) for term in mine):
        return one
    return tuple(term.join(further) for term in mine for further in theirs)


@dataclass(frozen=True, slots=True)
class PodTerm:
    """One required inter-pod (anti-)affinity term."""

    # `namespaces` has the pod's own if neither list nor selector is given.
    # A `selector` of None matches no pod; a `namespace_selector` of None adds no namespace.

    topology_key: str
    selector: LabelSelector | None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None

    def matches(self, namespace: str, namespace_labels: Labels, labels: Labels) -> bool:
        if self.selector is None or not self.selector.matches(labels):
            return False
        named = namespace in self.namespaces
        return named or (self.namespace_selector is not None and self.namespace_selector.matches(namespace_labels))


@dataclass(frozen=True, slots=True)
class Taint:
    key: str = ""
    effect: str = ""
    value: str = ""

    @property
    def repels(self) -> bool:
        """Whether the taint keeps new pods away (PreferNoSchedule does not)."""
        return self.effect in {NO_SCHEDULE, NO_EXECUTE}


@dataclass(frozen=True, slots=True)
class Toleration:
    """Operator Exists or Equal; an empty key with Exists tolerates everything, an empty effect every effect."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    def tolerates(self, taint: Taint) -> bool:
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        if self.operator == "Exists":
            return True
        return bool(self.key) and self.operator in {"Equal", ""} and self.value == taint.value


def tolerates_all(taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...]) -> bool:
    return all(any(toleration.tolerates(taint) for toleration in tolerations) for taint in taints if taint.repels)
