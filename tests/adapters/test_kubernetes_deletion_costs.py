"""A deletion cost is written by one conditional patch of two annotations, and each answer has its name."""

from typing import Any

import pytest

from shared.adapters.kubernetes.cluster import KubernetesCluster
from shared.adapters.kubernetes.pod_objects import PodDecoder
from shared.core.cluster import names
from shared.core.cluster.pod import Pod
from shared.errors import EbbError, Forbidden, Gone, Retryable, Stale, Terminal
from tests.adapters.objects import api_pod, read
from tests.adapters.scripted import Say, Script, status

PATH = "/api/v1/namespaces/default/pods/web-1"
POD: Pod = read(api_pod())


def standing(cost: str | None = None, mark: str | None = None, **meta: Any) -> Say:
    found = {names.DELETION_COST: cost, names.STEERED: mark, "owner.example/of": "web"}
    kept = {key: value for key, value in found.items() if value is not None}
    return Say(body=api_pod(meta={"resourceVersion": "7", "annotations": kept, **meta}))


def both(value: str | None) -> dict[str, str | None]:
    return {names.DELETION_COST: value, names.STEERED: value}


@pytest.mark.parametrize(
    ("written", "cost", "found"),
    [
        pytest.param(both("-5"), -5, standing(), id="a first cost"),
        pytest.param(both("-5"), -5, standing("-9", "-9"), id="one in place of ours"),
        pytest.param(both(None), -5, standing(None, "-9"), id="where somebody took ours away: our mark"),
        pytest.param(both(None), None, standing("-9", "-9"), id="taken back"),
        pytest.param(both(None), None, standing(None, "-9"), id="a mark that stands alone"),
        pytest.param({names.STEERED: None}, None, standing("3", "-9"), id="somebody else's now: our mark"),
        pytest.param({names.STEERED: None}, -5, standing("3", "-9"), id="and nothing is written over it"),
        pytest.param({names.STEERED: None}, -5, standing("-5", "-9"), id="the same value, but not of our mark"),
        pytest.param({names.STEERED: None}, None, standing("", "-9"), id="somebody wrote an empty one"),
    ],
)
def test_two_annotations_are_written_on_the_version_that_was_read(
    api: Script, cluster: KubernetesCluster, written: dict[str, str | None], cost: int | None, found: Say
) -> None:
    api.says(found, Say())

    assert cluster.set_deletion_cost(POD, cost)

    assert api.calls == [("GET", PATH), ("PATCH", PATH)]
    asked = api.asked[1]
    assert (asked.headers["content-type"], asked.query) == ("application/merge-patch+json", {})
    assert asked.body == {"metadata": {"uid": "uid-web-1", "resourceVersion": "7", "annotations": written}}


@pytest.mark.parametrize(
    ("cost", "found"),
    [
        pytest.param(-5, standing("-5", "-5"), id="it stands already"),
        pytest.param(-5, standing("3"), id="somebody else's stands"),
        pytest.param(-5, standing("-5"), id="somebody else wrote the same"),
        pytest.param(None, standing("3"), id="there is none of ours"),
        pytest.param(None, standing(), id="there is none"),
        pytest.param(-5, standing(deletionTimestamp="2026-03-04T12:00:00Z"), id="the pod is on its way out"),
    ],
)
def test_where_there_is_nothing_to_write_nothing_is_written(
    api: Script, cluster: KubernetesCluster, cost: int | None, found: Say
) -> None:
    api.says(found)

    assert not cluster.set_deletion_cost(POD, cost)
    assert api.calls == [("GET", PATH)]


@pytest.mark.parametrize(
    ("expected", "answers"),
    [
        pytest.param(Gone, [Say(404, status(404, "not found"))], id="no such pod"),
        pytest.param(Gone, [standing(uid="another")], id="another pod of that name"),
        pytest.param(Forbidden, [Say(403, status(403, "may not get"))], id="no right to read it"),
        pytest.param(Forbidden, [standing(), Say(403, status(403, "may not patch"))], id="no right to write it"),
        pytest.param(Stale, [standing(), Say(409, status(409, "changed"))], id="it changed meanwhile"),
        pytest.param(Gone, [standing(), Say(404, status(404, "not found"))], id="it went meanwhile"),
        pytest.param(Terminal, [standing(), Say(422, status(422, "invalid"))], id="refused"),
        pytest.param(Terminal, [Say(body={"metadata": 7})], id="no object of the API's"),
        pytest.param(Retryable, [Say(503, status(503, "busy"))], id="an outage"),
    ],
)
def test_each_answer_has_its_name(
    api: Script, cluster: KubernetesCluster, expected: type[EbbError], answers: list[Say]
) -> None:
    api.says(*answers)

    with pytest.raises(EbbError) as caught:
        cluster.set_deletion_cost(POD, -5)
    assert caught.type is expected


def test_pods_with_costs_of_ours_share_one_class_with_those_that_have_none() -> None:
    decoder = PodDecoder()
    plain = read(api_pod(), decoder)
    marked = [read(api_pod(f"web-{n}", meta={"annotations": both(str(-n))}), decoder) for n in range(1, 9)]
    assert {id(pod.spec) for pod in marked} == {id(plain.spec)}
    assert [pod.steered for pod in marked] == [str(-n) for n in range(1, 9)]


def test_of_a_cost_that_somebody_wrote_over_ours_the_class_knows_theirs() -> None:
    found = read(api_pod(meta={"annotations": {names.DELETION_COST: "3", names.STEERED: "-9"}}))
    assert (found.steered, dict(found.spec.annotations)) == ("-9", {names.DELETION_COST: "3"})
