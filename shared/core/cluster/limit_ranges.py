"""LimitRanges: what a namespace writes into the containers of a pod that is made in it, and which pods it refuses.

Both happen when a pod is created and never again: a LimitRange that came later leaves the pods that run as they are,
and meets those that come back. Must not know pods. Source: kubernetes, plugin/pkg/admission/limitranger.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from fractions import Fraction

from shared.core.cluster.containers import Container, ContainerRequests
from shared.core.cluster.requests import InitContainer, pod_requests
from shared.core.cluster.resources import NOTHING, Resources


@dataclass(frozen=True, slots=True)
class LimitItem:
    """One row of a LimitRange: about each container, or about the pod as a whole."""

    of_pod: bool = False
    least: Resources = NOTHING
    most: Resources = NOTHING
    ratios: Mapping[str, Fraction] = field(default_factory=dict)
    """How many times its request a limit may be, by resource."""
    default_requests: Resources = NOTHING
    default_limits: Resources = NOTHING
    """As the API server completes them: from `max`, from the default limits, from `min`."""


@dataclass(frozen=True, slots=True)
class LimitRange:
    """One of them."""

    namespace: str
    name: str
    items: tuple[LimitItem, ...] = ()

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    def completed(self, container: Container) -> Container:
        """Return the container with the defaults of what it does not say."""
        rows = [each for each in self.items if not each.of_pod]
        return replace(
            container,
            requests=_with_missing(container.requests, [each.default_requests for each in rows]),
            limits=_with_missing(container.limits, [each.default_limits for each in rows]),
        )

    def refuses(
        self, sent: ContainerRequests, written: ContainerRequests, limits_of: AbstractSet[str]
    ) -> Iterator[str]:
        """Yield why it would not let that pod in.

        `sent` is what the controller asks for, with the defaults; `written` has what webhooks may have made of it, who
        keep to a LimitRange where they lower, and not where they raise. Limits are known of the containers that are
        named; nothing is held against those of others.
        """
        for item in self.items:
            for low, high in _measured(item, sent, written, limits_of):
                yield from (f"{low.name} asks for less {name} than its least" for name in _below(low, item.least))
                yield from (f"{low.name} asks for more {name} than its most" for name in _above(high, item.most))
                yield from (f"{low.name} has a limit of {name} too far above its request" for name in _far(high, item))


def completed(made: ContainerRequests, ranges: Iterable[LimitRange]) -> ContainerRequests:
    """Return what is sent, with the defaults of all ranges: of two that both have one, the API server takes any."""
    all_rows = tuple(row for each in ranges for row in each.items)
    return made.changed(LimitRange("", "", all_rows).completed)


@dataclass(frozen=True, slots=True)
class _Measured:
    """What a row is about: a container, or the pod as a whole."""

    name: str
    requests: Resources
    limits: Resources
    known: bool
    """Whether it has no other limits than these."""


def _measured(
    item: LimitItem, sent: ContainerRequests, written: ContainerRequests, limits_of: AbstractSet[str]
) -> Iterator[tuple[_Measured, _Measured]]:
    """Yield what a row is about, each with what it asks for at most and at least."""
    if item.of_pod:
        if sent.containers and not sent.pod_level.amounts:
            known = all(each.name in limits_of for each in sent.containers)
            yield _whole(written, known=known), _whole(sent, known=known)
        return
    for low, high in zip(written.containers, sent.containers, strict=True):
        about, known = f"container {low.name}", low.name in limits_of
        yield _Measured(about, low.requests, low.limits, known), _Measured(about, high.requests, high.limits, known)


def _whole(made: ContainerRequests, *, known: bool) -> _Measured:
    requests, limits = _total(made, lambda each: each.requests), _total(made, lambda each: each.limits)
    return _Measured("the pod", requests, limits, known)


def _total(made: ContainerRequests, of: Callable[[Container], Resources]) -> Resources:
    return pod_requests(
        [of(each) for each in made.containers if not each.init],
        [InitContainer(of(each), each.sidecar) for each in made.containers if each.init],
    )


def _below(about: _Measured, least: Resources) -> Iterator[str]:
    for name, low in least.amounts:
        limit = about.limits.get(name)
        if about.requests.get(name) < low or 0 < limit < low:
            yield name


def _above(about: _Measured, most: Resources) -> Iterator[str]:
    for name, high in most.amounts:
        limit = about.limits.get(name)
        if max(about.requests.get(name), limit) > high or (about.known and not limit):
            yield name


def _far(about: _Measured, item: LimitItem) -> Iterator[str]:
    for name, ratio in item.ratios.items():
        limit = about.limits.get(name)
        if limit > about.requests.get(name) * ratio or (about.known and not limit):
            yield name


def _with_missing(given: Resources, defaults: Iterable[Resources]) -> Resources:
    amounts = dict(given.amounts)
    missing = NOTHING
    for each in defaults:
        missing = missing.largest(each)
    return Resources.of({**dict(missing.amounts), **amounts})
