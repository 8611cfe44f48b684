"""Each function uses exactly the rights that the file grants it, in whole runs too, and deletes nothing."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.local.world.kinds import Json
from shared.adapters.google_failures import SCOPES
from tests.cli.running import run_program
from tests.depth import cases
from tests.faults.history import History, run
from tests.faults.people import Act
from tests.faults.ports import AGENT
from tests.faults.returning_worlds import WITH_ROOM, returning_settings
from tests.faults.worlds import settings, with_a_disk, with_a_job, with_buffers
from tests.rights.rbac import FILE, OPTIONS, PLACEHOLDERS, Right, filled, granted, objects, right_of, with_options
from tests.rights.used_rights import ANYONE, DRAINER, PLANNER, USED_RIGHTS, UsedRights, idle, idle_options, lacking

GRANTS = granted(filled(planner=PLANNER, drainer=DRAINER))
INTERFERENCES = ("uncordon", "pause", "release", "drain", "take back", "lose the state", "fail deletions")


def histories() -> Iterator[History]:
    """Give worlds in which drains end well, fail, are held, are given back, and are healed after people interfered."""
    yield History(with_a_disk())
    yield History(with_a_job())
    yield from (History(setting) for setting in returning_settings() if setting.name == WITH_ROOM)
    yield from map(History, with_buffers())
    for setting in settings():
        yield History(setting)
        for name in INTERFERENCES:
            yield History(setting, acts=((60.0, Act(name)), (150.0, Act(name, 1))))


@pytest.mark.acceptance(108)
def test_each_function_uses_exactly_the_rights_that_the_file_grants_it() -> None:
    before = {identity: set(rights) for identity, rights in USED_RIGHTS.used.items()}
    USED_RIGHTS.used.clear()
    try:
        for history in histories():
            run(history)
        used = {identity: USED_RIGHTS.used[identity] for identity in (PLANNER, DRAINER)}
        assert (lacking(used, GRANTS), idle(used, GRANTS)) == ([], [])
    finally:
        for identity, rights in before.items():
            USED_RIGHTS.used[identity] |= rights


@pytest.mark.parametrize("identity", [PLANNER, DRAINER])
def test_no_right_deletes_reads_secrets_or_covers_more_than_it_names(identity: str) -> None:
    for right in GRANTS[identity]:
        assert right.verb in {"get", "list", "patch", "create"}
        assert not {"*", "secrets", "configmaps", "pods/exec", "serviceaccounts"} & {right.group, right.resource}
    assert {right for right in GRANTS[PLANNER] if right.verb not in {"get", "list"}} == set()


def test_the_drainer_writes_cordons_evictions_and_events_and_nothing_else() -> None:
    writes = {str(right) for right in GRANTS[DRAINER] if right.verb not in {"get", "list"}}
    assert writes == {"patch  nodes", "create  pods/eviction", "create  events"}


@cases(
    "identity, expected, option",
    ("surge: it restarts Deployments", DRAINER, {"patch apps deployments"}, "surge"),
    ("steer: it writes deletion costs", PLANNER, {"get  pods", "patch  pods"}, "steer"),
)
def test_an_option_gives_one_function_the_rights_of_its_name_and_nobody_else_any(
    identity: str, expected: set[str], option: str
) -> None:
    rights = granted(filled(OPTIONS[option], planner=PLANNER, drainer=DRAINER))

    assert rights.keys() == {identity}
    assert set(map(str, rights[identity])) == expected
    assert not rights[identity] & GRANTS[identity], "what is granted anyway needs no option"


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_comes_whole_its_admission_policy_first_and_every_name_its_own(option: str) -> None:
    made: list[Json] = objects(filled(OPTIONS[option]))
    kinds = [thing["kind"] for thing in made]

    (name,) = {thing["metadata"]["name"] for thing in made}
    assert name in {f"ebb-drainer-{option}", f"ebb-planner-{option}"}
    fences = [kind for kind in kinds if kind.startswith("Validating")]
    assert kinds == [*fences, "ClusterRole", "ClusterRoleBinding"]
    assert all(len(objects(part)) == 1 for part in OPTIONS[option].read_text().split("\n---\n"))


@pytest.mark.parametrize("option", OPTIONS)
def test_the_page_on_security_shows_of_every_option(option: str) -> None:
    text = (FILE.parents[1] / "SECURITY.md").read_text(encoding="utf-8")

    assert f"(`infra/options/{option}.yaml`) |" in text


def test_what_an_option_grants_and_nobody_ever_used_is_shown() -> None:
    surge = "infra/options/surge.yaml grants drainer `patch apps deployments`, which no test ever saw it use"
    assert surge in idle_options({})
    used = dict(with_options(planner=PLANNER, drainer=DRAINER))
    assert idle_options(used) == []


@pytest.mark.parametrize("identity", [PLANNER, DRAINER])
def test_each_right_that_is_taken_away_and_each_that_is_added_is_noticed(identity: str) -> None:
    used = {who: set(rights) for who, rights in GRANTS.items()}
    for right in sorted(GRANTS[identity]):
        less = {**GRANTS, identity: GRANTS[identity] - {right}}
        assert lacking(used, less) == [f"{identity} used `{right}`, which infra/rbac.yaml does not grant"]
    more = {**GRANTS, identity: GRANTS[identity] | {Right("delete", "", "pods")}}
    assert idle(used, more) == [f"infra/rbac.yaml grants {identity} `delete  pods`, which no test ever saw it use"]


def test_the_file_has_two_roles_each_bound_to_one_account_and_no_other_placeholder() -> None:
    made: list[Json] = objects(filled(planner="p@example.com", drainer="d@example.com"))
    names = [(thing["kind"], thing["metadata"]["name"]) for thing in made]
    assert names == [
        (kind, name) for kind in ("ClusterRole", "ClusterRoleBinding") for name in ("ebb-planner", "ebb-drainer")
    ]
    subjects = [thing["subjects"] for thing in made if "subjects" in thing]
    users = [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": f"{who}@example.com"} for who in "pd"]
    assert subjects == [[user] for user in users]
    assert FILE.read_text().count("${") == 2 * len(PLACEHOLDERS), "in the comment and in the binding"
    assert all(len(objects(part)) == 1 for part in FILE.read_text().split("\n---\n"))


def test_the_token_carries_the_scope_by_which_gke_knows_an_account_by_its_address() -> None:
    """Source: the GKE page that the file names; without userinfo.email the name is the numeric unique ID."""
    assert "https://www.googleapis.com/auth/userinfo.email" in SCOPES


@cases(
    "right, method, path",
    ("a list", "list  nodes", "GET", "/api/v1/nodes?limit=500"),
    ("one object", "get  nodes", "GET", "/api/v1/nodes/n1"),
    ("a patch", "patch  nodes", "PATCH", "/api/v1/nodes/n1"),
    ("all namespaces", "list  namespaces", "GET", "/api/v1/namespaces"),
    ("one namespace", "get  namespaces", "GET", "/api/v1/namespaces/shop"),
    ("a namespaced list", "list  pods", "GET", "/api/v1/namespaces/shop/pods"),
    ("a subresource", "create  pods/eviction", "POST", "/api/v1/namespaces/s/pods/p/eviction"),
    ("a creation", "create  events", "POST", "/api/v1/namespaces/default/events"),
    ("a group", "get apps deployments", "GET", "/apis/apps/v1/namespaces/s/deployments/d"),
    ("all", "list policy poddisruptionbudgets", "GET", "/apis/policy/v1/poddisruptionbudgets"),
    ("a deletion", "delete  pods", "DELETE", "/api/v1/namespaces/s/pods/p"),
    ("a deletion of all", "deletecollection  pods", "DELETE", "/api/v1/namespaces/s/pods"),
)
def test_a_request_is_read_as_the_authorizer_reads_it(right: str, method: str, path: str) -> None:
    assert str(right_of(method, path)) == right


def test_what_leaves_over_a_socket_is_overheard_if_it_is_ours() -> None:
    ledger = UsedRights()
    ledger.overhear(b"GET /api/v1/nodes HTTP/1.1\r\nHost: a\r\nUser-Agent: ebb\r\n\r\n")
    ledger.overhear(b"DELETE /api/v1/nodes/n HTTP/1.1\r\nUser-Agent: kubectl\r\n\r\n")
    ledger.overhear(b'{"a body": "User-Agent: ebb"}')
    ledger.overhear(b"GET /apis/autoscaling.k8s.io/v1 HTTP/1.1\r\nUser-Agent: ebb\r\n\r\n")
    ledger.overhear(b"GET /apis/autoscaling.x-k8s.io/v1beta1 HTTP/1.1\r\nUser-Agent: ebb\r\n\r\n")
    assert ledger.written() == {ANYONE: ["list  nodes"]}
    other = UsedRights()
    other.take(ledger.written())
    assert other.used == ledger.used


Entry = dict[str, Any]


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    """The record of a world in which nodes are drained and the autoscaler deletes them."""
    found: list[Entry] = run(History(settings()[0])).cloud.world.record.entries
    return found


def of_ours(entries: list[Entry], verb: str) -> list[str]:
    asked = (entry for entry in entries if entry["type"] == "request" and entry["user_agent"].startswith(AGENT))
    return [entry["path"] for entry in asked if entry["verb"] == verb]


def changes(entries: list[Entry], kind: str, verb: str) -> list[Entry]:
    return [entry for entry in entries if entry["type"] == "change" and (entry["kind"], entry["verb"]) == (kind, verb)]


@pytest.mark.acceptance(83)
def test_every_pod_that_ebb_ends_was_evicted_and_none_deleted(entries: list[Entry]) -> None:
    ended = {entry["name"] for entry in changes(entries, "pods", "update") if entry["terminating"] and ours(entry)}
    granted = {entry["name"] for entry in entries if entry["type"] == "eviction" and ours(entry)}

    assert ended == granted != set()
    assert [entry["name"] for entry in changes(entries, "pods", "delete") if ours(entry)] == []
    assert of_ours(entries, "DELETE") == []
    assert {path.rpartition("/")[2] for path in of_ours(entries, "POST")} <= {"eviction", "events"}


@pytest.mark.acceptance(93)
def test_a_drained_node_stays_cordoned_and_tainted_until_somebody_else_deletes_it(entries: list[Entry]) -> None:
    drained = {entry["name"] for entry in changes(entries, "nodes", "update") if ours(entry)}
    gone = {entry["name"]: entry for entry in changes(entries, "nodes", "delete")}

    assert drained
    for name in drained:
        assert gone[name]["unschedulable"]
        assert any("/ebb=" in taint for taint in gone[name]["taints"])
    assert [name for name, entry in gone.items() if ours(entry)] == []
    assert of_ours(entries, "DELETE") == []
    assert {path.split("/")[3] for path in of_ours(entries, "PATCH")} == {"nodes"}


def ours(entry: Entry) -> bool:
    return str(entry["actor"]).startswith(AGENT)


ROOT = FILE.parents[1]
HARMLESS = "def test_nothing(): pass\n"
TOO_FAR = """
import http.client, socket
def test_it():
    with socket.create_server(("127.0.0.1", 0)) as server:
        connection = http.client.HTTPConnection(*server.getsockname())
        connection.request("DELETE", "/api/v1/namespaces/a/pods/p", headers={"User-Agent": "ebb"})
        connection.close()
"""
DELETES = "anyone used `delete  pods`, which infra/rbac.yaml does not grant"
NEVER = "infra/rbac.yaml grants drainer `create  pods/eviction`, which no test ever saw it use"


@cases(
    "sentence, code, text, words",
    ("a part that uses nothing is fine", "", 0, HARMLESS, ["test_one.py"]),
    ("a part that goes too far fails", DELETES, 1, TOO_FAR, ["test_one.py"]),
    ("a whole run that leaves a right unused fails", NEVER, 1, HARMLESS, []),
    ("a choice by name is no whole run", "", 0, HARMLESS, ["-k", "nothing"]),
)
def test_a_run_is_held_against_the_file(sentence: str, code: int, text: str, words: list[str], tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = run_program(*command, "-p", "tests.rights.plugin", *words, cwd=tmp_path, env=environment)
    assert (done.returncode, sentence in done.stdout) == (code, True), done.stdout + done.stderr
    assert ("rights in the cluster" in done.stdout) is bool(sentence)
