"""What the simulated API server answers: lists, patches, refusals, faults."""

import json
from typing import Any

import pytest

from tests.local.virtual_cluster import (
    MERGE,
    VirtualCluster,
    node,
    pod,
    status_of,
)

NODE = "/api/v1/nodes/a"
PODS = "/api/v1/pods"
MINE = {"key": "mine", "effect": "NoSchedule"}
THEIRS = {"key": "theirs", "value": "x", "effect": "NoSchedule"}


def crowd(count: int = 5) -> VirtualCluster:
    virtual = VirtualCluster()
    for number in range(count):
        virtual.add("pods", pod(f"p{number}", on="a" if number % 2 else "", app=f"app{number % 2}"))
    return virtual


def names(body: Any) -> list[str]:
    return [item["metadata"]["name"] for item in body["items"]]


@pytest.mark.parametrize(
    ("expected", "query"),
    [
        pytest.param(["p1", "p3"], {"fieldSelector": "spec.nodeName=a"}, id="by node"),
        pytest.param(["p0", "p2", "p4"], {"labelSelector": "app=app0"}, id="by label"),
        pytest.param(["p0", "p1", "p2", "p3", "p4"], {"resourceVersion": "0", "limit": 2}, id="a list is one page"),
    ],
)
def test_a_list_is_selected(expected: list[str], query: dict[str, str]) -> None:
    assert names(crowd().json("GET", PODS, query=query)) == expected


@pytest.mark.parametrize(
    ("expected", "method", "path"),
    [
        pytest.param((404, "NotFound"), "GET", "/api/v1/nodes/none", id="unknown node"),
        pytest.param((404, "NotFound"), "GET", "/apis/apps/v1/gizmos", id="unknown kind"),
        pytest.param((404, "NotFound"), "GET", "/apis/policy/v1beta1/poddisruptionbudgets", id="old version"),
        pytest.param((400, "BadRequest"), "GET", "/api/v1/pods?labelSelector=app in (a)", id="a selector of sets"),
        pytest.param((400, "BadRequest"), "GET", "/api/v1/pods?fieldSelector=spec.unknown=a", id="an unknown field"),
        pytest.param((405, "MethodNotAllowed"), "PUT", NODE, id="no replace"),
        pytest.param((404, "NotFound"), "GET", "/api/v1/namespaces/default/nodes", id="nodes have no namespace"),
    ],
)
def test_a_wrong_request_is_refused_by_name(expected: tuple[int, str], method: str, path: str) -> None:
    bare, _, query = path.partition("?")
    selector = dict([query.split("=", 1)]) if query else {}
    assert status_of(VirtualCluster().call(method, bare, query=selector)) == expected


@pytest.mark.parametrize(
    ("expected", "header"),
    [
        pytest.param(200, {"authorization": "Bearer secret"}, id="the right token"),
        pytest.param(401, {"authorization": "Bearer other"}, id="another token"),
        pytest.param(401, {}, id="no token"),
    ],
)
def test_a_token_is_checked_if_there_is_one(expected: int, header: dict[str, str]) -> None:
    assert VirtualCluster(token="secret").call("GET", NODE, **header).status == expected  # noqa: S106 - a test's token


@pytest.mark.parametrize(
    ("expected", "content_type", "patch"),
    [
        pytest.param((409, "Conflict"), MERGE, {"metadata": {"resourceVersion": "1"}}, id="stale version"),
        pytest.param((415, "UnsupportedMediaType"), "application/json", {}, id="no patch type"),
        pytest.param((400, "BadRequest"), MERGE, [], id="a list is no merge patch"),
    ],
)
def test_a_patch_is_refused(expected: tuple[int, str], content_type: str, patch: Any) -> None:
    virtual = VirtualCluster()
    before = virtual.store.get("nodes", "", "a")
    assert status_of(virtual.call("PATCH", NODE, patch, type=content_type)) == expected
    assert virtual.store.get("nodes", "", "a") is before


def test_the_present_version_is_accepted_and_moves_on() -> None:
    virtual = VirtualCluster()
    version = virtual.store.get("nodes", "", "a")["metadata"]["resourceVersion"]
    patch = {"metadata": {"resourceVersion": version}, "spec": {"unschedulable": True}}
    first = virtual.call("PATCH", NODE, patch, type=MERGE)
    assert json.loads(first.body)["metadata"]["resourceVersion"] != version
    assert status_of(virtual.call("PATCH", NODE, patch, type=MERGE)) == (409, "Conflict")


def test_a_dry_run_persists_nothing() -> None:
    virtual = VirtualCluster()
    revision = virtual.store.revision
    answer = virtual.json("PATCH", NODE, {"spec": {"unschedulable": True}}, type=MERGE, query={"dryRun": "All"})
    assert answer["spec"]["unschedulable"] is True
    assert virtual.store.revision == revision


def test_every_request_and_every_change_of_a_node_is_on_record() -> None:
    virtual = VirtualCluster()
    virtual.call("PATCH", NODE, {"spec": {"unschedulable": True}}, type=MERGE)
    request, change = virtual.world.record.of("request")[-1], virtual.world.record.of("change")[-1]
    assert (request["verb"], request["path"], request["code"], request["user_agent"]) == ("PATCH", NODE, 200, "test")
    assert (change["kind"], change["name"], change["actor"], change["unschedulable"]) == ("nodes", "a", "test", True)


def test_an_event_can_be_posted() -> None:
    virtual = VirtualCluster()
    event = {"metadata": {"generateName": "a."}, "reason": "Drained", "involvedObject": {"kind": "Node", "name": "a"}}
    assert virtual.call("POST", "/api/v1/namespaces/default/events", event).status == 201
    assert [item["reason"] for item in virtual.json("GET", "/api/v1/events")["items"]] == ["Drained"]


@pytest.mark.parametrize(
    ("expected", "body"),
    [
        pytest.param((409, "AlreadyExists"), node("a"), id="taken name"),
        pytest.param((422, "Invalid"), {"metadata": {}}, id="no name"),
    ],
)
def test_a_creation_is_refused(expected: tuple[int, str], body: Any) -> None:
    assert status_of(VirtualCluster().call("POST", "/api/v1/nodes", body)) == expected
