"""`infra/rbac.yaml` grants what the functions use, no more and no less: whole histories through the real adapters."""

from collections.abc import Iterator

import pytest

from infra.local.world.kinds import Json
from shared.adapters.google_failures import SCOPES
from tests.faults.history import History, run
from tests.faults.people import Act
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


@pytest.mark.parametrize(
    ("identity", "expected", "option"),
    [
        pytest.param(DRAINER, {"patch apps deployments"}, "surge", id="surge: it restarts Deployments"),
        pytest.param(PLANNER, {"get  pods", "patch  pods"}, "steer", id="steer: it writes deletion costs"),
    ],
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


@pytest.mark.parametrize(
    ("right", "method", "path"),
    [
        pytest.param("list  nodes", "GET", "/api/v1/nodes?limit=500", id="a list"),
        pytest.param("get  nodes", "GET", "/api/v1/nodes/n1", id="one object"),
        pytest.param("patch  nodes", "PATCH", "/api/v1/nodes/n1", id="a patch"),
        pytest.param("list  namespaces", "GET", "/api/v1/namespaces", id="all namespaces"),
        pytest.param("get  namespaces", "GET", "/api/v1/namespaces/shop", id="one namespace"),
        pytest.param("list  pods", "GET", "/api/v1/namespaces/shop/pods", id="a namespaced list"),
        pytest.param("create  pods/eviction", "POST", "/api/v1/namespaces/s/pods/p/eviction", id="a subresource"),
        pytest.param("create  events", "POST", "/api/v1/namespaces/default/events", id="a creation"),
        pytest.param("get apps deployments", "GET", "/apis/apps/v1/namespaces/s/deployments/d", id="a group"),
        pytest.param("list policy poddisruptionbudgets", "GET", "/apis/policy/v1/poddisruptionbudgets", id="all"),
        pytest.param("delete  pods", "DELETE", "/api/v1/namespaces/s/pods/p", id="a deletion"),
        pytest.param("deletecollection  pods", "DELETE", "/api/v1/namespaces/s/pods", id="a deletion of all"),
    ],
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
