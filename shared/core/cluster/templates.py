"""What the next pod of a controller will be: the running pod, with the rules of placement of its template.

Admission adds to each pod what its template does not have, so a pod that has more than its template is as usual. What
the template alone has is still to come: a place must meet the rules of both (docs/decisions/returns.md). What both
together do not show is named as not modelled: labels that rules select, domains of a spread, RuntimeClasses.
"""

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Final

from shared.core.cluster import names
from shared.core.cluster.pod import CLAIM, WITHOUT_PLACE, PodClass, Volume
from shared.core.cluster.requests import ContainerRequests
from shared.core.cluster.selectors import (
    NO_SCHEDULE,
    Labels,
    NodeTerm,
    NodeTerms,
    Requirement,
    SpreadConstraint,
    Taint,
    Toleration,
    intersect_terms,
)
from shared.core.cluster.workloads import Workload

MADE_BY_CONTROLLERS: Final = frozenset(
    {names.TEMPLATE_HASH_LABEL, names.REVISION_LABEL, names.POD_NAME_LABEL, names.POD_INDEX_LABEL}
)
"""Labels of pods that their template need not have."""
DRAIN_TAINT: Final = Taint(names.OUR_TAINT, NO_SCHEDULE, "order")  # That of any drain.
Own = PodClass | None  # The template that a pod was made of; None = not known.
SelectedBy = Callable[[], AbstractSet[str]]  # Returns the keys of all labels by which rules of placement select pods.


@dataclass(frozen=True, slots=True)
class Making:
    """What the next pod in the place of one is made of."""

    templates: tuple[PodClass, ...] = ()  # Any of them; none where the pod itself shows it, or nobody knows.
    own: Own = None
    unread: str = ""  # The revision of which it will be, where nothing that is read shows that.

    @property
    def asks(self) -> ContainerRequests | None:
        """What the templates request, the highest of each; None where they have no containers."""
        asked = [template.asks for template in self.templates if template.asks is not None]
        return reduce(ContainerRequests.highest, asked) if asked else None

    def priority_class(self, spec: PodClass) -> str:
        return next(
            (template.priority_class for template in self.templates if template.priority_class), spec.priority_class
        )


def making_of(spec: PodClass, workload: Workload) -> Making:
    templates, revisions = workload.templates, workload.revisions
    if revisions is None:
        return Making(templates, templates[0] if templates and workload.fixed_template else None)
    own, following = spec.labels.get(names.REVISION_LABEL, ""), revisions.of(spec)
    if following != revisions.update:
        return Making(unread="" if own in {"", following} else following)
    return Making(templates, templates[0] if templates and own and own == following else None)


def as_made(spec: PodClass, making: Making, selected_by: SelectedBy) -> PodClass:
    """Return the class with the rules of its templates; the same object where it has all of them."""
    if making.unread:
        return _with(spec, "unmodelled", _union(spec.unmodelled, (f"revision {making.unread}, which is not read",)))
    for template in making.templates:
        spec = _join_specs(spec, template, making.own, selected_by)
    return spec


def label_keys(classes: Iterable[PodClass]) -> frozenset[str]:
    return frozenset(key for spec in classes for key in _selected_label_keys(spec))


def _selected_label_keys(spec: PodClass) -> Iterator[str]:
    selectors = [term.selector for term in (*spec.anti_affinity, *spec.affinity)]
    for selector in (*selectors, *(constraint.selector for constraint in spec.hard_spread)):
        yield from (requirement.key for requirement in (selector.requirements if selector else ()))
    for spread in spec.hard_spread:
        yield from spread.match_label_keys


def _join_specs(spec: PodClass, template: PodClass, own: Own, selected_by: SelectedBy) -> PodClass:
    found = spec
    for field, attribute, rule in _RULES:
        value, standing = rule(found, template, own), getattr(found, attribute)
        if value != standing:
            found = _with(found, attribute, value, field)
    unknown = _union(found.unmodelled, tuple(_unmodelled_parts(found, template, own, selected_by)))
    return found if unknown is found.unmodelled else _with(found, "unmodelled", unknown)


def _with(spec: PodClass, attribute: str, value: Any, *named: str) -> PodClass:
    return replace(spec, **{attribute: value}, template_adds=_union(spec.template_adds, named))


def _union(mine: tuple[Any, ...], theirs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what any of both has; the very same object where the first has all."""
    missing = tuple(row for row in theirs if row not in mine)
    return (*mine, *missing) if missing else mine


def _other_values(spec: PodClass, template: PodClass, _: Own) -> NodeTerms:
    """Select also by what the template asks of a label for which the pod's own selector has another value."""
    other = sorted(template.node_selector.items() - spec.node_selector.items())
    wanted = NodeTerm(tuple(Requirement(key, "In", (value,)) for key, value in other))
    return intersect_terms(spec.node_terms, (wanted,)) if other else spec.node_terms


def _tolerations(spec: PodClass, template: PodClass, own: Own) -> tuple[Toleration, ...]:
    """Keep what the template has, and what admission adds again; of what it alone has, what would bring a pod back."""
    mine, theirs = spec.tolerations, template.tolerations
    kept = tuple(toleration for toleration in mine if toleration in theirs or _is_added(toleration, spec, own))
    return _union(kept, tuple(toleration for toleration in theirs if toleration.tolerates(DRAIN_TAINT)))


def _is_added(toleration: Toleration, spec: PodClass, own: Own) -> bool:
    """Whether admission added a toleration to the pod: it is not in its template, or of a kind that is never there."""
    # plugin/pkg/admission: defaulttolerationseconds, extendedresourcetoleration.
    if own is not None and toleration not in own.tolerations:
        return True
    return toleration.key.startswith("node.kubernetes.io/") or spec.requests.get(toleration.key) > 0


def _spread(spec: PodClass, template: PodClass, _: Own) -> tuple[SpreadConstraint, ...]:
    """Compare with matchLabelKeys written into the selectors, as the API server does it in pods (since 1.34)."""
    known = {_spread_key(row, spec.labels) for row in spec.hard_spread}
    missing = (row for row in template.hard_spread if _spread_key(row, spec.labels) not in known)
    return (*spec.hard_spread, *missing)


def _spread_key(spread: SpreadConstraint, labels: Labels) -> tuple[object, ...]:
    selector = spread.selector and spread.selector.with_labels(
        {key: labels[key] for key in spread.match_label_keys if key in labels}
    )
    plain = replace(spread, selector=None, match_label_keys=())
    return plain, selector and frozenset(selector.requirements)


def _volumes(spec: PodClass, template: PodClass, _: Own) -> tuple[Volume, ...]:
    """Add what the template mounts; a claim without a name stands for the one that is made for the pod."""
    own = {volume.name for volume in spec.volumes if volume.kind == CLAIM}
    missing: list[Volume] = []
    for volume in template.volumes:
        made = volume.kind == CLAIM and not volume.detail
        if volume.kind not in WITHOUT_PLACE and not (volume.name in own if made else volume in spec.volumes):
            pod = spec.labels.get(names.POD_NAME_LABEL, "")
            missing.append(replace(volume, detail=f"{volume.name}-{pod}") if made else volume)
    return (*spec.volumes, *missing)


def _scheduler(spec: PodClass, template: PodClass, _: Own) -> str:
    """Take another one than GKE's: GKE writes its own over the default one's."""
    return spec.scheduler if template.scheduler in names.SCHEDULERS else template.scheduler


def _all_of(attribute: str) -> "Rule":
    return lambda spec, template, _: _union(getattr(spec, attribute), getattr(template, attribute))


Rule = Callable[[PodClass, PodClass, Own], Any]
_RULES: Final[tuple[tuple[str, str, Rule], ...]] = (
    ("nodeName", "node_name", lambda spec, template, _: template.node_name or spec.node_name),
    ("nodeSelector", "node_selector", lambda spec, template, _: {**template.node_selector, **spec.node_selector}),
    ("nodeSelector", "node_terms", _other_values),
    ("affinity", "node_terms", lambda spec, template, _: intersect_terms(spec.node_terms, template.node_terms)),
    ("os", "os", lambda spec, template, _: spec.os or template.os),
    ("tolerations", "tolerations", _tolerations),
    ("affinity", "affinity", _all_of("affinity")),
    ("affinity", "anti_affinity", _all_of("anti_affinity")),
    ("topologySpreadConstraints", "hard_spread", _spread),
    ("ports", "host_ports", _all_of("host_ports")),
    ("volumes", "volumes", _volumes),
    ("schedulerName", "scheduler", _scheduler),
    ("schedulingGates", "scheduling_gates", _all_of("scheduling_gates")),
    ("resourceClaims", "resource_claims", _all_of("resource_claims")),
)
"""The API's field, where a class has it, and what it is with the template."""


def _unmodelled_parts(spec: PodClass, template: PodClass, own: Own, selected_by: SelectedBy) -> Iterator[str]:
    """Yield what of the template is not modelled, or cannot be joined with the pod."""
    yield from template.unmodelled
    if template.runtime_class not in {"", spec.runtime_class}:
        yield f"runtimeClassName {template.runtime_class} of its template"
    if template.os not in {"", spec.os}:
        yield f"os {template.os} of its template"
    # Labels that the next pod has otherwise, or no longer.
    added = {key for key, _ in template.labels.items() - spec.labels.items()}
    if changed := added | ((own or spec).labels.keys() - template.labels.keys() - MADE_BY_CONTROLLERS):
        yield from (f"label {key} of its template, which rules select" for key in sorted(changed & selected_by()))
    if spec.hard_spread and _has_other_domains(spec, template, own or spec):
        yield "topologySpreadConstraints over other nodes than those of its template"


def _has_other_domains(spec: PodClass, template: PodClass, before: PodClass) -> bool:
    """Whether the next pod may have fewer rules, so that its spread counts more domains than the pod's own."""
    fewer = before.node_selector.items() - template.node_selector.items()
    wider = intersect_terms(template.node_terms, before.node_terms) is not template.node_terms
    differing = {
        toleration
        for toleration in {*before.tolerations} ^ {*template.tolerations}
        if not _is_added(toleration, spec, None)
    }
    return any(
        (constraint.honours_affinity and (fewer or wider)) or (constraint.honours_taints and differing)
        for constraint in spec.hard_spread
    )
