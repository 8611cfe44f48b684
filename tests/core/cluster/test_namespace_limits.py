from fractions import Fraction
from typing import Any

from shared.core.cluster.namespace_limits import LimitItem, LimitRange, NamespaceLimits, QuotaScope, ResourceQuota
from shared.core.cluster.pod import Pod
from shared.core.cluster.requests import Container, ContainerRequests
from shared.core.cluster.resources import NOTHING, Resources
from shared.core.cluster.returning import VerticalAutoscaler, as_they_return
from shared.core.cluster.workloads import Workload
from tests.builders import pod, pod_template, resources
from tests.depth import cases

SET, WEB = "default/ReplicaSet/web", "default/Deployment/web"
GIB = 1024**3
NO_TEMPLATE: dict[str, Workload] = {}


def app(requests: Resources = NOTHING, limits: Resources = NOTHING, name: str = "app", **more: Any) -> Container:
    return Container(name, requests, limits=limits, **more)


def running(requests: Resources = NOTHING, *others: Container, **changes: Any) -> Pod:
    asks = ContainerRequests((app(requests), *others))
    return pod("web-1", on="n1", cpu=requests.cpu / 1000, memory=requests.memory / GIB, asks=asks, **changes)


def template(*containers: Container, **more: Any) -> dict[str, Workload]:
    return {SET: Workload(WEB, templates=(pod_template(asks=ContainerRequests(containers, **more)),))}


def of_container(**row: Any) -> NamespaceLimits:
    return NamespaceLimits((LimitRange("default", "bounds", (LimitItem(**row),)),))


def of_pod(**row: Any) -> NamespaceLimits:
    return of_container(of_pod=True, **row)


def quota(hard: dict[str, int], used: dict[str, int], *scopes: QuotaScope) -> NamespaceLimits:
    return NamespaceLimits(quotas=(ResourceQuota("default", "team", hard, used, scopes),))


def exceeded(scope: str, *condition: Any) -> NamespaceLimits:
    """A quota that is used up, for the pods in a scope."""
    return quota({"pods": 1}, {"pods": 9}, QuotaScope(scope, *condition))


HIGH = frozenset({"high"})


def back(given: Pod, workloads: dict[str, Workload], limits: NamespaceLimits, *others: VerticalAutoscaler) -> Pod:
    (found,) = as_they_return([given], workloads, others, limits)
    return found


DEFAULTS: dict[str, Any] = {"default_requests": resources(0.5, 1), "default_limits": resources(1, 2)}
SET_BY_RANGE = of_container(**DEFAULTS)
A_FIFTH, OLDER = resources(0.2), resources(0.1, 1)
ELSEWHERE = NamespaceLimits((LimitRange("other", "bounds", (LimitItem(**DEFAULTS),)),))


@cases(
    "expected, given, workloads, limits",
    ("what is not shown", resources(0.5, 1), running(), template(app()), SET_BY_RANGE),
    ("without a template", resources(0.5, 1), running(), NO_TEMPLATE, SET_BY_RANGE),
    ("what it lacks", resources(0.2, 1), running(A_FIFTH), template(app(A_FIFTH)), SET_BY_RANGE),
    ("what an older default gave", resources(0.5, 1), running(OLDER), template(app()), SET_BY_RANGE),
    ("each container, one that a webhook added, too", resources(1, 2), running(NOTHING, app(name="proxy")),
     template(app()), SET_BY_RANGE),
    ("a row about pods has none", resources(), running(), template(app()), of_pod(**DEFAULTS)),
    ("another namespace's", resources(), running(), template(app()), ELSEWHERE),
)  # fmt: skip
def test_a_pod_comes_back_with_the_defaults_of_its_namespace(
    expected: Resources, given: Pod, workloads: dict[str, Workload], limits: NamespaceLimits
) -> None:
    found = back(given, workloads, limits)

    assert (found.requests, found.spec.requests) == (given.requests, expected)


def test_who_raises_it_is_named() -> None:
    found = back(running(), template(app()), of_container(**DEFAULTS))

    assert found.spec.raised_by == ("LimitRange default/bounds",)


SMALL = template(app(resources(0.2, 1), resources(0.4, 1)))
LOW = LimitRange("default", "bounds").key


@cases(
    "refused, limits",
    ("just the least", False, of_container(least=resources(0.2))),
    ("less than the least", True, of_container(least=resources(0.3))),
    ("just the most", False, of_container(most=resources(0.4))),
    ("a limit above the most", True, of_container(most=resources(0.3))),
    ("more than the most", True, of_container(most=resources(0.1, 4))),
    ("a limit just so far above", False, of_container(ratios={"cpu": Fraction(2)})),
    ("a limit too far above", True, of_container(ratios={"cpu": Fraction(3, 2)})),
    ("the pod less than the least", True, of_pod(least=resources(0.3))),
    ("the pod more than the most", True, of_pod(most=resources(0.3))),
    ("the pod just the most", False, of_pod(most=resources(0.4, 1))),
)
def test_a_pod_that_is_out_of_bounds_would_not_be_let_in(refused: bool, limits: NamespaceLimits) -> None:
    found = back(running(resources(0.2, 1)), SMALL, limits)

    assert bool(found.spec.refused_by) is refused
    assert all(LOW in name for name in found.spec.refused_by)


def test_bounds_ask_what_is_sent_and_not_what_a_resize_in_place_has_made_of_the_pod() -> None:
    grown = running(resources(0.2, 1), booked=resources(3, 1))

    assert back(grown, SMALL, of_container(most=resources(1, 2))).spec.refused_by == ()


@cases(
    "refused, limits",
    ("which lifts it above the least", False, of_container(least=resources(0.3))),
    ("which keeps to the most by itself", False, of_container(most=resources(0.5))),
)
def test_an_autoscaler_writes_before_bounds_are_checked(refused: bool, limits: NamespaceLimits) -> None:
    raising = VerticalAutoscaler("default", "web", WEB, recommended={"app": resources(0.9)})

    assert bool(back(running(resources(0.2, 1)), SMALL, limits, raising).spec.refused_by) is refused


def test_a_container_that_nobody_has_named_is_not_bound_by_what_is_not_known_of_it() -> None:
    limits = of_container(ratios={"cpu": Fraction(1)}, most=resources(1))

    assert back(running(resources(0.2)), NO_TEMPLATE, limits).spec.refused_by == ()


@cases(
    "expected, limits",
    ("with room for one more", (False, False), quota({"pods": 4}, {"pods": 3})),
    ("used up: once the old one is gone", (False, True), quota({"pods": 4}, {"pods": 4})),
    ("more used than allowed: never", (True, True), quota({"pods": 4}, {"pods": 5})),
    ("CPU, once the old one is gone", (False, True), quota({"cpu": 1000}, {"cpu": 900})),
    ("CPU, more than allowed", (True, True), quota({"cpu": 1000}, {"cpu": 1100})),
    ("limits, more than allowed", (True, True), quota({"limits.cpu": 500}, {"limits.cpu": 600})),
    ("limits, once it is gone", (False, True), quota({"limits.cpu": 500}, {"limits.cpu": 400})),
    ("what the pod does not ask for", (False, False), quota({"nvidia.com/gpu": 0}, {})),
    ("what is no pod's", (False, False), quota({"services": 1}, {"services": 9})),
    ("for others: without requests", (False, False), exceeded("BestEffort")),
    ("for such pods", (True, True), exceeded("NotBestEffort")),
    ("for most pods", (True, True), exceeded("NotTerminating")),
    ("for another priority class", (False, False), exceeded("PriorityClass", "In", HIGH)),
)
def test_a_quota_lets_another_pod_in_at_once_or_at_the_end_or_never(
    expected: tuple[bool, bool], limits: NamespaceLimits
) -> None:
    found = back(running(resources(0.2, 1)), SMALL, limits).spec

    assert (bool(found.refused_by), found.replaced_at_end) == expected


def test_a_quota_for_the_priority_class_of_the_template_counts() -> None:
    limits = exceeded("PriorityClass", "In", HIGH)
    named = {SET: Workload(WEB, templates=(pod_template(priority_class="high"),))}

    assert not back(running(), SMALL, limits).spec.refused_by
    assert back(running(), named, limits).spec.refused_by


def test_what_comes_back_larger_must_fit_the_quota_as_it_comes_back() -> None:
    larger, limits = template(app(resources(0.8, 1))), quota({"cpu": 1000}, {"cpu": 900})

    assert "more cpu than it allows" in back(running(resources(0.2, 1)), larger, limits).spec.refused_by[0]


@cases(
    "refused, counted, workloads",
    ("a request that a quota counts", True, "memory", template(app(resources(0.2)))),
    ("one that is shown", False, "cpu", template(app(resources(0.2)))),
    ("a limit that a quota counts", True, "limits.cpu", template(app(resources(0.2, 1)))),
    ("a limit that is not known", False, "limits.cpu", NO_TEMPLATE),
    ("unless the pod shows it", False, "memory", template(app(), pod_level=resources(1, 1))),
)
def test_each_container_must_show_what_a_quota_counts(
    refused: bool, counted: str, workloads: dict[str, Workload]
) -> None:
    found = back(running(resources(0.2)), workloads, quota({counted: 10**15}, {}))

    assert bool(found.spec.refused_by) is refused


@cases(
    "expected, operator, priority_class",
    ("one of any", True, "Exists", "high"),
    ("none, where one is asked for", False, "Exists", ""),
    ("one, where none is asked for", False, "DoesNotExist", "high"),
    ("none", True, "DoesNotExist", ""),
    ("one of those", True, "In", "low"),
    ("another than those", False, "In", "high"),
    ("one of those that are left out", False, "NotIn", "low"),
    ("one that is not left out", True, "NotIn", "high"),
)
def test_a_quota_of_priority_classes_means_the_pods_of_those(
    expected: bool, operator: str, priority_class: str
) -> None:
    scope = QuotaScope("PriorityClass", operator, frozenset({"low"}))

    assert scope.holds({}, priority_class) is expected
