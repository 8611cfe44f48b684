"""VerticalPodAutoscalers: how they are found, what is read of them, and what is not there to be read."""

from typing import Any

import msgspec
import pytest

from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.vertical_autoscalers import RESOURCE, from_dump, read_autoscalers
from shared.core.cluster.resources import NOTHING
from shared.core.cluster.returning import (
    ContainerPolicy,
    StartupBoost,
    VerticalAutoscaler,
    VerticalAutoscalers,
)
from tests.adapters.access import access_to, no_wait
from tests.adapters.scripted import Say, Script, status
from tests.builders import resources

GROUP = "/apis/autoscaling.k8s.io"
VERSIONS = Say(body={"versions": [{"version": "v1"}, {"version": "v1beta2"}]})
KINDS = Say(body={"resources": [{"name": "verticalpodautoscalercheckpoints"}, {"name": "verticalpodautoscalers"}]})
NO_KINDS = Say(body={"resources": [{"name": "verticalpodautoscalercheckpoints"}]})
NOT_FOUND, FORBIDDEN = Say(404, status(404, "not found")), Say(403, status(403, "no"))
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


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        pytest.param({}, autoscaler(), id="nothing but its target"),
        pytest.param({}, autoscaler(updatePolicy={"updateMode": None}), id="no mode, which is Recreate"),
        pytest.param({}, autoscaler(updatePolicy={"updateMode": "InPlaceOrRecreate"}), id="a mode that acts"),
        pytest.param({}, autoscaler(updatePolicy={"updateMode": "Initial"}), id="for new pods alone: ours is one"),
        pytest.param({"acts": False}, autoscaler(updatePolicy={"updateMode": "Off"}), id="Off"),
        pytest.param(
            {"recommended": {"app": resources(0.025, 0.25), "proxy": NOTHING}},
            autoscaler(recommends({"containerName": "app", "target": {"cpu": "25m", "memory": "256Mi"},
                                   "upperBound": {"cpu": "9"}}, {"containerName": "proxy"})),
            id="its targets",
        ),
        pytest.param({"recommended": {}}, autoscaler({"recommendation": None}), id="none yet"),
        pytest.param(
            {"policies": {"*": ContainerPolicy(), "app": ContainerPolicy(scaled=False)}},
            autoscaler(**policies({"containerName": "*", "mode": "Auto"}, {"containerName": "app", "mode": "Off"})),
            id="modes by container",
        ),
        pytest.param(
            {
                "policies": {
                    "app": ContainerPolicy(
                        least=resources(0.1),
                        most=resources(2, 4),
                        controlled=frozenset({"memory"}),
                        below_limits=True,
                        boost=StartupBoost(1, 500),
                    )
                }
            },
            autoscaler(**policies({
                "containerName": "app", "minAllowed": {"cpu": "100m"}, "maxAllowed": {"cpu": 2, "memory": "4Gi"},
                "controlledResources": ["memory"], "controlledValues": "RequestsOnly",
                "startupBoost": {"cpu": {"type": "Quantity", "quantity": "500m"}},
            })),
            id="all of a policy",
        ),
        pytest.param({"boost": StartupBoost(3)}, autoscaler(startupBoost={"cpu": {"factor": 3}}), id="a boost"),
        pytest.param({"boost": None}, autoscaler(startupBoost={}), id="a boost of nothing"),
    ],
)  # fmt: skip
def test_all_that_is_read_of_one(expected: dict[str, Any], given: dict[str, Any]) -> None:
    found = from_dump(msgspec.json.encode({"kind": "VerticalPodAutoscaler", **given}))
    plain = {"recommended": {}, "policies": {}, **expected}

    assert found == VerticalAutoscaler(WEB.namespace, WEB.name, WEB.target, **plain)


def read(api: Script, *answers: Say) -> VerticalAutoscalers:
    api.says(*answers)
    return read_autoscalers(KubernetesClient(access_to(api.address), sleep=no_wait, read_seconds=2))


@pytest.mark.parametrize(
    ("expected", "answers", "asked"),
    [
        pytest.param(
            VerticalAutoscalers(),
            [NOT_FOUND],
            [
                "",
            ],
            id="a cluster without the group",
        ),
        pytest.param(
            VerticalAutoscalers(), [VERSIONS, NO_KINDS, NOT_FOUND], ["", "/v1", "/v1beta2"], id="without the kind"
        ),
        pytest.param(
            VerticalAutoscalers((WEB,)),
            [VERSIONS, KINDS, Say(body={"items": [autoscaler()]})],
            ["", "/v1", "/v1/verticalpodautoscalers"],
            id="those that are there",
        ),
        pytest.param(
            VerticalAutoscalers((WEB,)),
            [VERSIONS, NO_KINDS, KINDS, Say(body={"items": [autoscaler()]})],
            ["", "/v1", "/v1beta2", "/v1beta2/verticalpodautoscalers"],
            id="of an older version alone",
        ),
        pytest.param(
            VerticalAutoscalers(unread=("verticalpodautoscalers",)),
            [VERSIONS, KINDS, FORBIDDEN],
            ["", "/v1", "/v1/verticalpodautoscalers"],
            id="there, and not ours to read",
        ),
        pytest.param(
            VerticalAutoscalers(unread=("verticalpodautoscalers",)), [FORBIDDEN], [""], id="not ours to ask for"
        ),
    ],
)
def test_they_are_found_by_what_the_cluster_shows_that_it_has(
    expected: VerticalAutoscalers, answers: list[Say], asked: list[str], api: Script
) -> None:
    assert read(api, *answers) == expected
    assert [path.partition("?")[0] for _, path in api.calls] == [f"{GROUP}{name}" for name in asked]


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param(Say(503, status(503, "later")).lasting, id="the cluster does not show"),
        pytest.param([Say(body={"versions": 7})], id="it shows nonsense of the group"),
        pytest.param([VERSIONS, Say(body={"resources": 7})], id="or of the version"),
        pytest.param([VERSIONS, KINDS, Say(body={"items": 7})], id="or of the list"),
    ],
)
def test_a_list_that_cannot_be_read_is_named_and_ends_no_snapshot(answers: list[Say], api: Script) -> None:
    assert read(api, *answers) == VerticalAutoscalers(unread=(RESOURCE,))


@pytest.mark.parametrize(
    ("fault", "odd"),
    [
        pytest.param("'much' is not a quantity", {"target": {"cpu": "much"}}, id="an amount is none"),
        pytest.param("Expected `object", {"target": 7}, id="a part of another shape"),
    ],
)
def test_one_that_cannot_be_read_is_named_and_the_others_count(fault: str, odd: dict[str, Any], api: Script) -> None:
    found = read(api, VERSIONS, KINDS, Say(body={"items": [autoscaler(recommends(odd)), autoscaler()]}))

    assert found.found == (WEB,)
    (said,) = found.faults
    assert said.startswith(f"verticalpodautoscalers {WEB.key}: {fault}")
