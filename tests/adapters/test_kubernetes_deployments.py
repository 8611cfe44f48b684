"""A Deployment is restarted by one conditional patch of one annotation, and each answer has its name."""

from dataclasses import replace
from typing import Any

import pytest

from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.core.cluster import names
from shared.core.cluster.workloads import Deployment
from shared.errors import EbbError, Forbidden, Gone, Retryable, Stale, Terminal
from tests.adapters.scripted import Say, Script, status
from tests.local.wait_until import wait_until

PATH = "/apis/apps/v1/namespaces/shop/deployments/web"
READ = Deployment(name="shop/Deployment/web", uid="u1", resource_version="7", template="t")


def api_deployment(version: str = "7", stamp: str | None = None, **notes: str) -> dict[str, Any]:
    stamped = {names.SURGE_STAMP: stamp} if stamp else {}
    return {
        "metadata": {"name": "web", "namespace": "shop", "uid": "u1", "resourceVersion": version},
        "spec": {"template": {"metadata": {"annotations": {**notes, **stamped}}, "spec": {"containers": []}}},
    }


@pytest.mark.parametrize(
    ("written", "noted", "stamp", "before", "earlier"),
    [
        pytest.param("order-1", None, "order-1", "", "", id="a restart"),
        pytest.param("order-2", "order-1", "order-2", "order-1", "", id="a restart after another"),
        pytest.param("order-3", "order-2", "order-3", "order-2", "order-1", id="a restart after two"),
        pytest.param(None, None, "", "order-1", "", id="taken back"),
        pytest.param("order-1", None, "order-1", "order-2", "order-1", id="taken back after another"),
    ],
)
def test_the_stamp_and_what_it_replaces_are_written_on_the_version_that_was_read(
    api: Script,
    cluster: KubernetesCluster,
    written: str | None,
    noted: str | None,
    stamp: str,
    before: str,
    earlier: str,
) -> None:
    api.says(Say(body=api_deployment("8", stamp)))

    found = cluster.restart(replace(READ, stamp=before, earlier=earlier), stamp)

    assert api.calls == [("PATCH", PATH)]
    assert (api.asked[0].headers["content-type"], api.asked[0].query) == ("application/merge-patch+json", {})
    assert api.asked[0].body == {
        "metadata": {"uid": "u1", "resourceVersion": "7", "annotations": {names.SURGED_BEFORE: noted}},
        "spec": {"template": {"metadata": {"annotations": {names.SURGE_STAMP: written}}}},
    }
    assert (found.stamp, found.resource_version) == (stamp, "8")


def test_a_restart_tried_dry_shows_it_to_the_api(api: Script, cluster: KubernetesCluster) -> None:
    api.says(Say(body=api_deployment("7", "order-1")))

    cluster.restart(READ, "order-1", dry_run=True)

    assert api.asked[0].query == {"dryRun": "All"}


@pytest.mark.parametrize("stamp", ["", "order-1"])
def test_what_shows_it_already_is_not_written(api: Script, cluster: KubernetesCluster, stamp: str) -> None:
    given = replace(READ, stamp=stamp)

    assert cluster.restart(given, stamp) == given
    assert api.calls == []


@pytest.mark.parametrize(
    ("expected", "code", "said"),
    [
        pytest.param(Gone, 404, "not found", id="gone"),
        pytest.param(Stale, 409, "the object has been modified", id="changed"),
        pytest.param(Forbidden, 403, "no", id="not allowed"),
        pytest.param(Terminal, 422, "invalid", id="invalid"),
        pytest.param(Retryable, 503, "unavailable", id="unavailable"),
    ],
)
def test_each_refusal_has_its_name(
    api: Script, cluster: KubernetesCluster, expected: type[EbbError], code: int, said: str
) -> None:
    api.says(Say(code, status(code, said)))

    with pytest.raises(expected, match=said) as failure:
        cluster.restart(READ, "order-1")

    assert type(failure.value) is expected
    assert len(api.asked) == 1


def test_a_refused_restart_names_the_file_that_grants_it(api: Script, cluster: KubernetesCluster) -> None:
    api.says(Say(403, status(403, "deployments.apps is forbidden")))

    with pytest.raises(Forbidden, match=r"not allowed to patch deployments: .*forbidden; .*infra/options/surge\.yaml"):
        cluster.restart(READ, "order-1")


def test_a_restart_without_an_answer_is_an_outage(api: Script, cluster: KubernetesCluster) -> None:
    api.says(Say(silent=True))

    with pytest.raises(Retryable, match="no answer"):
        cluster.restart(READ, "order-1")

    wait_until("the server has read the request", lambda: len(api.asked) == 1)


def test_the_digest_of_a_template_leaves_out_our_stamp_alone(api: Script, cluster: KubernetesCluster) -> None:
    plain, stamped, noted = api_deployment(), api_deployment(stamp="order-1"), api_deployment(team="shop")
    bare = api_deployment()
    del bare["spec"]["template"]["metadata"]["annotations"]
    api.says(*(Say(body=each) for each in (plain, stamped, bare, noted)))

    digests = [cluster.deployment(READ.name).template for _ in range(4)]

    assert len(set(digests[:3])) == 1
    assert digests[3] != digests[0]
