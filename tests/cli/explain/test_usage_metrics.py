"""What metrics.k8s.io says of use, and by what name its silence goes."""

from collections.abc import Iterator

import pytest

from functions.cli.explain.usage import ShownUsage, read_usage
from shared.adapters.kubernetes.client import KubernetesClient
from shared.errors import Forbidden, Gone, Retryable, Terminal
from tests.adapters.scripted import Say, Script, access_to, no_wait, scripted, status
from tests.builders import resources

NODES = {"items": [{"metadata": {"name": "n1"}, "usage": {"cpu": "1250m", "memory": "2Gi"}}]}
PODS = {
    "items": [
        {
            "metadata": {"namespace": "shop", "name": "cart-0"},
            "containers": [{"usage": {"cpu": "200m", "memory": "1Gi"}}, {"usage": {"cpu": "50m"}}],
        }
    ]
}


@pytest.fixture
def api() -> Iterator[Script]:
    with scripted() as script:
        yield script


def usage(api: Script) -> ShownUsage:
    return read_usage(KubernetesClient(access_to(api.address), sleep=no_wait))


def test_nodes_and_pods_are_shown_with_the_containers_of_a_pod_summed_up(api: Script) -> None:
    api.says(Say(200, NODES), Say(200, PODS))
    found = usage(api)
    assert found.nodes == {"n1": resources(cpu=1.25, memory=2)}
    assert found.pods == {"shop/cart-0": resources(cpu=0.25, memory=1)}
    assert [each.path.partition("?")[0] for each in api.asked] == [
        "/apis/metrics.k8s.io/v1beta1/nodes",
        "/apis/metrics.k8s.io/v1beta1/pods",
    ]


@pytest.mark.parametrize(
    ("expected", "answer"),
    [
        pytest.param(Gone, Say(404, status(404, "not found")), id="a cluster without metrics"),
        pytest.param(Forbidden, Say(403, status(403, "no")), id="an account that may not ask"),
        pytest.param(Retryable, Say(503, status(503, "unavailable")), id="metrics that do not answer"),
        pytest.param(Terminal, Say(200, {"items": [{"usage": {"cpu": "much"}}]}), id="a quantity that is none"),
    ],
)
def test_what_cannot_be_read_is_named(api: Script, expected: type[Exception], answer: Say) -> None:
    api.says(answer)
    with pytest.raises(expected):
        usage(api)
