from fractions import Fraction
from typing import Any

import pytest

from shared.core.cluster.namespace_limits import LimitItem, LimitRange, NamespaceLimits, QuotaScope, ResourceQuota
from shared.core.cluster.pod import Pod
from shared.core.cluster.requests import Container, ContainerRequests
from shared.core.cluster.resources import NOTHING, Resources
from shared.core.cluster.returning import VerticalAutoscaler, as_they_return
from shared.core.cluster.workloads import Workload
from tests.builders import pod, pod_template, resources

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


@pytest.mark.parametrize(
    ("expected", "given", "workloads", "limits"),
    [
        pytest.param(resources(0.5, 1), running(), template(app()), SET_BY_RANGE, id="what is not shown"),
        pytest.param(resources(0.5, 1), running(), NO_TEMPLATE, SET_BY_RANGE, id="without a template"),
        pytest.param(resources(0.2, 1), running(A_FIFTH), template(app(A_FIFTH)), SET_BY_RANGE, id="what it lacks"),
        pytest.param(resources(0.5, 1), running(OLDER), template(app()), SET_BY_RANGE, id="what an older default gave"),
        pytest.param(resources(1, 2), running(NOTHING, app(name="proxy")), template(app()), SET_BY_RANGE,
                     id="each container, one that a webhook added, too"),
        pytest.param(resources(), running(), template(app()), of_pod(**DEFAULTS), id="a row about pods has none"),
        pytest.param(resources(), running(), template(app()), ELSEWHERE, id="another namespace's"),
    ],
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


@pytest.mark.parametrize(
    ("refused", "limits"),
    [
        pytest.param(False, of_container(least=resources(0.2)), id="just the least"),
        pytest.param(True, of_container(least=resources(0.3)), id="less than the least"),
        pytest.param(False, of_container(most=resources(0.4)), id="just the most"),
        pytest.param(True, of_container(most=resources(0.3)), id="a limit above the most"),
        pytest.param(True, of_container(most=resources(0.1, 4)), id="more than the most"),
        pytest.param(False, of_container(ratios={"cpu": Fraction(2)}), id="a limit just so far above"),
        pytest.param(True, of_container(ratios={"cpu": Fraction(3, 2)}), id="a limit too far above"),
        pytest.param(True, of_pod(least=resources(0.3)), id="the pod less than the least"),
        pytest.param(True, of_pod(most=resources(0.3)), id="the pod more than the most"),
        pytest.param(False, of_pod(most=resources(0.4, 1)), id="the pod just the most"),
    ],
)
def test_a_pod_that_is_out_of_bounds_would_not_be_let_in(refused: bool, limits: NamespaceLimits) -> None:
    found = back(running(resources(0.2, 1)), SMALL, limits)

    assert bool(found.spec.refused_by) is refused
    assert all(LOW in name for name in found.spec.refused_by)


def test_bounds_ask_what_is_sent_and_not_what_a_resize_in_place_has_made_of_the_pod() -> None:
    grown = running(resources(0.2, 1), booked=resources(3, 1))

    assert back(grown, SMALL, of_container(most=resources(1, 2))).spec.refused_by == ()


@pytest.mark.parametrize(
    ("refused", "limits"),
    [
        pytest.param(False, of_container(least=resources(0.3)), id="which lifts it above the least"),
        pytest.param(False, of_container(most=resources(0.5)), id="which keeps to the most by itself"),
    ],
)
def test_an_autoscaler_writes_before_bounds_are_checked(refused: bool, limits: NamespaceLimits) -> None:
    raising = VerticalAutoscaler("default", "web", WEB, recommended={"app": resources(0.9)})

    assert bool(back(running(resources(0.2, 1)), SMALL, limits, raising).spec.refused_by) is refused


def test_a_container_that_nobody_has_named_is_not_bound_by_what_is_not_known_of_it() -> None:
    limits = of_container(ratios={"cpu": Fraction(1)}, most=resources(1))

    assert back(running(resources(0.2)), NO_TEMPLATE, limits).spec.refused_by == ()


@pytest.mark.parametrize(
    ("expected", "limits"),
    [
        pytest.param((False, False), quota({"pods": 4}, {"pods": 3}), id="with room for one more"),
        pytest.param((False, True), quota({"pods": 4}, {"pods": 4}), id="used up: once the old one is gone"),
        pytest.param((True, True), quota({"pods": 4}, {"pods": 5}), id="more used than allowed: never"),
        pytest.param((False, True), quota({"cpu": 1000}, {"cpu": 900}), id="CPU, once the old one is gone"),
        pytest.param((True, True), quota({"cpu": 1000}, {"cpu": 1100}), id="CPU, more than allowed"),
        pytest.param((True, True), quota({"limits.cpu": 500}, {"limits.cpu": 600}), id="limits, more than allowed"),
        pytest.param((False, True), quota({"limits.cpu": 500}, {"limits.cpu": 400}), id="limits, once it is gone"),
        pytest.param((False, False), quota({"nvidia.com/gpu": 0}, {}), id="what the pod does not ask for"),
        pytest.param((False, False), quota({"services": 1}, {"services": 9}), id="what is no pod's"),
        pytest.param((False, False), exceeded("BestEffort"), id="for others: without requests"),
        pytest.param((True, True), exceeded("NotBestEffort"), id="for such pods"),
        pytest.param((True, True), exceeded("NotTerminating"), id="for most pods"),
        pytest.param((False, False), exceeded("PriorityClass", "In", HIGH), id="for another priority class"),
    ],
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


@pytest.mark.parametrize(
    ("refused", "counted", "workloads"),
    [
        pytest.param(True, "memory", template(app(resources(0.2))), id="a request that a quota counts"),
        pytest.param(False, "cpu", template(app(resources(0.2))), id="one that is shown"),
        pytest.param(True, "limits.cpu", template(app(resources(0.2, 1))), id="a limit that a quota counts"),
        pytest.param(False, "limits.cpu", NO_TEMPLATE, id="a limit that is not known"),
        pytest.param(False, "memory", template(app(), pod_level=resources(1, 1)), id="unless the pod shows it"),
    ],
)
def test_each_container_must_show_what_a_quota_counts(
    refused: bool, counted: str, workloads: dict[str, Workload]
) -> None:
    found = back(running(resources(0.2)), workloads, quota({counted: 10**15}, {}))

    assert bool(found.spec.refused_by) is refused


@pytest.mark.parametrize(
    ("expected", "operator", "priority_class"),
    [
        pytest.param(True, "Exists", "high", id="one of any"),
        pytest.param(False, "Exists", "", id="none, where one is asked for"),
        pytest.param(False, "DoesNotExist", "high", id="one, where none is asked for"),
        pytest.param(True, "DoesNotExist", "", id="none"),
        pytest.param(True, "In", "low", id="one of those"),
        pytest.param(False, "In", "high", id="another than those"),
        pytest.param(False, "NotIn", "low", id="one of those that are left out"),
        pytest.param(True, "NotIn", "high", id="one that is not left out"),
    ],
)
def test_a_quota_of_priority_classes_means_the_pods_of_those(
    expected: bool, operator: str, priority_class: str
) -> None:
    scope = QuotaScope("PriorityClass", operator, frozenset({"low"}))

    assert scope.holds({}, priority_class) is expected
