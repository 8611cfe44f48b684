"""LimitRanges, ResourceQuotas and VerticalPodAutoscalers: how they are found, and what is read of them."""

from fractions import Fraction
from typing import Any

import msgspec

from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.namespace_limits import quota_from_dump, range_from_dump, read_limits
from shared.adapters.kubernetes.vertical_autoscalers import RESOURCE, from_dump, read_autoscalers
from shared.core.cluster.namespace_limits import LimitItem, LimitRange, QuotaScope, ResourceQuota
from shared.core.cluster.resources import NOTHING
from shared.core.cluster.returning import ContainerPolicy, StartupBoost, VerticalAutoscaler, VerticalAutoscalers
from tests.adapters.scripted import Say, Script, access_to, no_wait, status
from tests.builders import resources
from tests.depth import cases

META = {"name": "team", "namespace": "shop"}
FORBIDDEN = Say(403, status(403, "no"))


@cases(
    "expected, rows",
    ("nothing", (), None),
    ("a row that shows nothing", (LimitItem(),), [{"type": "Container"}]),
    ("of pods", (LimitItem(of_pod=True, most=resources(2)),), [{"type": "Pod", "max": {"cpu": 2}}]),
    ("of claims, which is left", (), [{"type": "PersistentVolumeClaim", "max": {"storage": "9Gi"}}]),
    ("all of a row",
     (LimitItem(least=resources(0.1), most=resources(4, 8), ratios={"cpu": Fraction(5, 2)},
                default_requests=resources(0.2, 1), default_limits=resources(1, 2)),),
     [{"type": "Container", "min": {"cpu": "100m"}, "max": {"cpu": "4", "memory": "8Gi"},
       "maxLimitRequestRatio": {"cpu": "2.5"}, "defaultRequest": {"cpu": "200m", "memory": "1Gi"},
       "default": {"cpu": "1", "memory": "2Gi"}}]),
)  # fmt: skip
def test_what_is_read_of_a_limit_range(expected: tuple[LimitItem, ...], rows: Any) -> None:
    given = {"kind": "LimitRange", "metadata": META, "spec": {"limits": rows}}

    assert range_from_dump(msgspec.json.encode(given)) == LimitRange("shop", "team", expected)


@cases(
    "expected, hard",
    ("requests of CPU", {"cpu": 1500}, {"requests.cpu": "1500m"}),
    ("twice, of which the smaller holds", {"cpu": 1000}, {"requests.cpu": "2", "cpu": 1}),
    ("limits", {"limits.cpu": 2000, "limits.memory": 8}, {"limits.cpu": 2, "limits.memory": "8"}),
    ("pods, living and all", {"pods": 3, "count/pods": 9}, {"pods": "3", "count/pods": "9"}),
    ("an extended resource", {"nvidia.com/gpu": 4}, {"requests.nvidia.com/gpu": "4"}),
    ("huge pages", {"hugepages-2Mi": 2**21}, {"hugepages-2Mi": "2Mi"}),
    ("what no pod uses", {},
     {"services": 1, "count/jobs.batch": 5, "requests.storage": "1Gi", "persistentvolumeclaims": 2,
      "fast.storageclass.storage.k8s.io/requests.storage": "1Gi"}),
)  # fmt: skip
def test_what_is_read_of_a_quota(expected: dict[str, int], hard: dict[str, Any]) -> None:
    given = {"metadata": META, "spec": {"hard": {"pods": "77"}}, "status": {"hard": hard, "used": hard}}

    assert quota_from_dump(msgspec.json.encode(given)) == ResourceQuota("shop", "team", expected, expected)


def test_the_scopes_of_a_quota() -> None:
    rows = [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]
    spec = {"scopes": ["NotTerminating"], "scopeSelector": {"matchExpressions": rows}}

    found = quota_from_dump(msgspec.json.encode({"metadata": META, "spec": spec})).scopes

    assert found == (QuotaScope("NotTerminating"), QuotaScope("PriorityClass", "In", frozenset({"high"})))


def answers_of(api: Script, *answers: Say) -> KubernetesClient:
    api.says(*answers)
    return KubernetesClient(access_to(api.address), sleep=no_wait, read_seconds=2)


RANGE, QUOTA = Say(body={"items": [{"metadata": META}]}), Say(body={"items": [{"metadata": META}]})


@cases(
    "ranges, quotas, unread, answers",
    ("both lists", 1, 1, (), [RANGE, QUOTA]),
    ("one that is not ours to read", 0, 1, ("limitranges",), [FORBIDDEN, QUOTA]),
    ("the other", 1, 0, ("resourcequotas",), [RANGE, FORBIDDEN]),
    ("none", 0, 0, ("limitranges", "resourcequotas"), [FORBIDDEN, FORBIDDEN]),
)
def test_a_list_that_may_not_be_read_is_named(
    ranges: int, quotas: int, unread: tuple[str, ...], answers: list[Say], api: Script
) -> None:
    found = read_limits(answers_of(api, *answers))

    assert (len(found.ranges), len(found.quotas), found.unread) == (ranges, quotas, unread)


@cases(
    "answers",
    ("an outage", Say(503, status(503, "later")).lasting),
    ("an amount that is none",
     (Say(body={"items": [{"metadata": META, "spec": {"limits": [{"type": "Pod", "max": {"cpu": "much"}}]}}]}),)),
)  # fmt: skip
def test_a_list_that_cannot_be_read_is_named_and_ends_no_snapshot(answers: tuple[Say, ...], api: Script) -> None:
    assert read_limits(answers_of(api, *answers)).unread == ("limitranges",)


GROUP = "/apis/autoscaling.k8s.io"
VERSIONS = Say(body={"versions": [{"version": "v1"}, {"version": "v1beta2"}]})
KINDS = Say(body={"resources": [{"name": "verticalpodautoscalercheckpoints"}, {"name": "verticalpodautoscalers"}]})
NO_KINDS = Say(body={"resources": [{"name": "verticalpodautoscalercheckpoints"}]})
NOT_FOUND = Say(404, status(404, "not found"))
WEB = VerticalAutoscaler("shop", "web", "shop/Deployment/web")


def autoscaler(status: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    return {
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"targetRef": target, **spec},
        **({"status": status} if status else {}),
    }


def recommends(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"recommendation": {"containerRecommendations": [*rows]}}


def policies(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"resourcePolicy": {"containerPolicies": [*rows]}}


@cases(
    "expected, given",
    ("nothing but its target", {}, autoscaler()),
    ("no mode, which is Recreate", {}, autoscaler(updatePolicy={"updateMode": None})),
    ("a mode that acts", {}, autoscaler(updatePolicy={"updateMode": "InPlaceOrRecreate"})),
    ("for new pods alone: ours is one", {}, autoscaler(updatePolicy={"updateMode": "Initial"})),
    ("Off", {"acts": False}, autoscaler(updatePolicy={"updateMode": "Off"})),
    ("its targets", {"recommended": {"app": resources(0.025, 0.25), "proxy": NOTHING}},
     autoscaler(recommends({"containerName": "app", "target": {"cpu": "25m", "memory": "256Mi"},
                            "upperBound": {"cpu": "9"}}, {"containerName": "proxy"}))),
    ("none yet", {"recommended": {}}, autoscaler({"recommendation": None})),
    ("modes by container", {"policies": {"*": ContainerPolicy(), "app": ContainerPolicy(scaled=False)}},
     autoscaler(**policies({"containerName": "*", "mode": "Auto"}, {"containerName": "app", "mode": "Off"}))),
    ("all of a policy",
     {"policies": {"app": ContainerPolicy(least=resources(0.1), most=resources(2, 4), controlled=frozenset({"memory"}),
                                          below_limits=True, boost=StartupBoost(1, 500))}},
     autoscaler(**policies({"containerName": "app", "minAllowed": {"cpu": "100m"},
                            "maxAllowed": {"cpu": 2, "memory": "4Gi"}, "controlledResources": ["memory"],
                            "controlledValues": "RequestsOnly",
                            "startupBoost": {"cpu": {"type": "Quantity", "quantity": "500m"}}}))),
    ("a boost", {"boost": StartupBoost(3)}, autoscaler(startupBoost={"cpu": {"factor": 3}})),
    ("a boost of nothing", {"boost": None}, autoscaler(startupBoost={})),
)  # fmt: skip
def test_all_that_is_read_of_one(expected: dict[str, Any], given: dict[str, Any]) -> None:
    found = from_dump(msgspec.json.encode({"kind": "VerticalPodAutoscaler", **given}))
    plain = {"recommended": {}, "policies": {}, **expected}

    assert found == VerticalAutoscaler(WEB.namespace, WEB.name, WEB.target, **plain)


@cases(
    "expected, answers, asked",
    ("a cluster without the group", VerticalAutoscalers(), [NOT_FOUND], [""]),
    ("without the kind", VerticalAutoscalers(), [VERSIONS, NO_KINDS, NOT_FOUND], ["", "/v1", "/v1beta2"]),
    ("those that are there", VerticalAutoscalers((WEB,)), [VERSIONS, KINDS, Say(body={"items": [autoscaler()]})],
     ["", "/v1", "/v1/verticalpodautoscalers"]),
    ("of an older version alone", VerticalAutoscalers((WEB,)),
     [VERSIONS, NO_KINDS, KINDS, Say(body={"items": [autoscaler()]})],
     ["", "/v1", "/v1beta2", "/v1beta2/verticalpodautoscalers"]),
    ("there, and not ours to read", VerticalAutoscalers(unread=("verticalpodautoscalers",)),
     [VERSIONS, KINDS, FORBIDDEN], ["", "/v1", "/v1/verticalpodautoscalers"]),
    ("not ours to ask for", VerticalAutoscalers(unread=("verticalpodautoscalers",)), [FORBIDDEN], [""]),
)  # fmt: skip
def test_they_are_found_by_what_the_cluster_shows_that_it_has(
    expected: VerticalAutoscalers, answers: list[Say], asked: list[str], api: Script
) -> None:
    assert read_autoscalers(answers_of(api, *answers)) == expected
    assert [path.partition("?")[0] for _, path in api.calls] == [f"{GROUP}{name}" for name in asked]


@cases(
    "answers",
    ("the cluster does not show", Say(503, status(503, "later")).lasting),
    ("it shows nonsense of the group", [Say(body={"versions": 7})]),
    ("or of the version", [VERSIONS, Say(body={"resources": 7})]),
    ("or of the list", [VERSIONS, KINDS, Say(body={"items": 7})]),
)
def test_autoscalers_that_cannot_be_listed_are_named_and_end_no_snapshot(answers: list[Say], api: Script) -> None:
    assert read_autoscalers(answers_of(api, *answers)) == VerticalAutoscalers(unread=(RESOURCE,))


@cases(
    "fault, odd",
    ("an amount is none", "'much' is not a quantity", {"target": {"cpu": "much"}}),
    ("a part of another shape", "Expected `object", {"target": 7}),
)
def test_one_that_cannot_be_read_is_named_and_the_others_count(fault: str, odd: dict[str, Any], api: Script) -> None:
    rows = Say(body={"items": [autoscaler(recommends(odd)), autoscaler()]})

    found = read_autoscalers(answers_of(api, VERSIONS, KINDS, rows))

    assert found.found == (WEB,)
    (said,) = found.faults
    assert said.startswith(f"verticalpodautoscalers {WEB.key}: {fault}")
