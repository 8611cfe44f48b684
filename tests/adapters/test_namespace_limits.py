"""LimitRanges and ResourceQuotas: what is read of them, and what is not ours to be read."""

from fractions import Fraction
from typing import Any

import msgspec
import pytest

from shared.adapters.kubernetes.client import KubernetesClient
from shared.adapters.kubernetes.namespace_limits import quota_from_dump, range_from_dump, read_limits
from shared.core.cluster.namespace_limits import LimitItem, LimitRange, NamespaceLimits, QuotaScope, ResourceQuota
from tests.adapters.access import access_to, no_wait
from tests.adapters.scripted import Say, Script, status
from tests.builders import resources

META = {"name": "team", "namespace": "shop"}
FORBIDDEN = Say(403, status(403, "no"))


@pytest.mark.parametrize(
    ("expected", "rows"),
    [
        pytest.param((), None, id="nothing"),
        pytest.param((LimitItem(),), [{"type": "Container"}], id="a row that shows nothing"),
        pytest.param((LimitItem(of_pod=True, most=resources(2)),), [{"type": "Pod", "max": {"cpu": 2}}], id="of pods"),
        pytest.param((), [{"type": "PersistentVolumeClaim", "max": {"storage": "9Gi"}}], id="of claims, which is left"),
        pytest.param(
            (
                LimitItem(
                    least=resources(0.1),
                    most=resources(4, 8),
                    ratios={"cpu": Fraction(5, 2)},
                    default_requests=resources(0.2, 1),
                    default_limits=resources(1, 2),
                ),
            ),
            [{"type": "Container", "min": {"cpu": "100m"}, "max": {"cpu": "4", "memory": "8Gi"},
              "maxLimitRequestRatio": {"cpu": "2.5"}, "defaultRequest": {"cpu": "200m", "memory": "1Gi"},
              "default": {"cpu": "1", "memory": "2Gi"}}],
            id="all of a row",
        ),
    ],
)  # fmt: skip
def test_what_is_read_of_a_limit_range(expected: tuple[LimitItem, ...], rows: Any) -> None:
    given = {"kind": "LimitRange", "metadata": META, "spec": {"limits": rows}}

    assert range_from_dump(msgspec.json.encode(given)) == LimitRange("shop", "team", expected)


@pytest.mark.parametrize(
    ("expected", "hard"),
    [
        pytest.param({"cpu": 1500}, {"requests.cpu": "1500m"}, id="requests of CPU"),
        pytest.param({"cpu": 1000}, {"requests.cpu": "2", "cpu": 1}, id="twice, of which the smaller holds"),
        pytest.param({"limits.cpu": 2000, "limits.memory": 8}, {"limits.cpu": 2, "limits.memory": "8"}, id="limits"),
        pytest.param({"pods": 3, "count/pods": 9}, {"pods": "3", "count/pods": "9"}, id="pods, living and all"),
        pytest.param({"nvidia.com/gpu": 4}, {"requests.nvidia.com/gpu": "4"}, id="an extended resource"),
        pytest.param({"hugepages-2Mi": 2**21}, {"hugepages-2Mi": "2Mi"}, id="huge pages"),
        pytest.param(
            {},
            {"services": 1, "count/jobs.batch": 5, "requests.storage": "1Gi", "persistentvolumeclaims": 2,
             "fast.storageclass.storage.k8s.io/requests.storage": "1Gi"},
            id="what no pod uses",
        ),
    ],
)  # fmt: skip
def test_what_is_read_of_a_quota(expected: dict[str, int], hard: dict[str, Any]) -> None:
    given = {"metadata": META, "spec": {"hard": {"pods": "77"}}, "status": {"hard": hard, "used": hard}}

    assert quota_from_dump(msgspec.json.encode(given)) == ResourceQuota("shop", "team", expected, expected)


def test_the_scopes_of_a_quota() -> None:
    rows = [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]
    spec = {"scopes": ["NotTerminating"], "scopeSelector": {"matchExpressions": rows}}

    found = quota_from_dump(msgspec.json.encode({"metadata": META, "spec": spec})).scopes

    assert found == (QuotaScope("NotTerminating"), QuotaScope("PriorityClass", "In", frozenset({"high"})))


def read(api: Script, *answers: Say) -> NamespaceLimits:
    api.says(*answers)
    return read_limits(KubernetesClient(access_to(api.address), sleep=no_wait, read_seconds=2))


RANGE, QUOTA = Say(body={"items": [{"metadata": META}]}), Say(body={"items": [{"metadata": META}]})


@pytest.mark.parametrize(
    ("ranges", "quotas", "unread", "answers"),
    [
        pytest.param(1, 1, (), [RANGE, QUOTA], id="both lists"),
        pytest.param(0, 1, ("limitranges",), [FORBIDDEN, QUOTA], id="one that is not ours to read"),
        pytest.param(1, 0, ("resourcequotas",), [RANGE, FORBIDDEN], id="the other"),
        pytest.param(0, 0, ("limitranges", "resourcequotas"), [FORBIDDEN, FORBIDDEN], id="none"),
    ],
)
def test_a_list_that_may_not_be_read_is_named(
    ranges: int, quotas: int, unread: tuple[str, ...], answers: list[Say], api: Script
) -> None:
    found = read(api, *answers)

    assert (len(found.ranges), len(found.quotas), found.unread) == (ranges, quotas, unread)


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param(Say(503, status(503, "later")).lasting, id="an outage"),
        pytest.param(
            (Say(body={"items": [{"metadata": META, "spec": {"limits": [{"type": "Pod", "max": {"cpu": "much"}}]}}]}),),
            id="an amount that is none",
        ),
    ],
)
def test_a_list_that_cannot_be_read_is_named_and_ends_no_snapshot(answers: tuple[Say, ...], api: Script) -> None:
    assert read(api, *answers).unread == ("limitranges",)
