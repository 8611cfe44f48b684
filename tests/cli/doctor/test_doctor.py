"""What `ebb doctor` finds in an installation, and says of it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest
import typer

from functions.cli.doctor.checks import CHECKS, examine, show
from functions.cli.doctor.installation import Grade, InstallationParts, installation_parts, once
from functions.cli.doctor.rights import OPTIONAL_GROUPS, OPTIONS, rights, rights_of_option
from functions.cli.dumps.contents import OPTIONAL
from shared.core.cluster.node import Kubelet, NodePool
from shared.core.policy import Policy, PoolPolicy
from shared.core.policy.values import Commitments
from shared.core.records.state import ClusterState
from shared.errors import BadPolicy, BadSettings, EbbError, Forbidden, Retryable, Terminal
from shared.ports import CLUSTER_KEY, PoolsReading
from shared.settings import Settings
from shared.store.compare_and_set import read_cluster
from tests.builders import CLUSTER, NOW, node, policy
from tests.cli.doctor.standing import ADMISSION, BINDINGS, POLICIES, ROLES, Key, Raw, everything, fences_of
from tests.depth import cases
from tests.fakes import FakeCluster, FakeCommitments, FakePolicySource, FakePools, FakeState
from tests.rights.rbac import filled, granted

TOPIC = "projects/p/topics/orders"
POOLS = {"a": NodePool("a")}
FENCES = fences_of(ADMISSION)


@dataclass
class FakeReviews:
    """Rights that are lacking, and admission policies that are there."""

    lacking: frozenset[tuple[str, str]] = frozenset()
    policies: frozenset[str] = FENCES
    served: frozenset[str] = frozenset()  # Kinds that only some clusters have, and this one has.
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    held: dict[Key, Raw] = field(default_factory=everything)  # What stands, but for policies that are not there.

    def may(self, verb: str, group: str, resource: str) -> bool:
        self.asked.append((verb, group, resource))
        return (verb, resource) not in self.lacking

    def serves(self, group: str, resource: str) -> bool:
        return f"{resource}.{group}" in self.served

    def standing(self, group: str, resource: str, name: str) -> Raw | None:
        kind = f"{resource}.{group}"
        if kind in {POLICIES, BINDINGS} and name not in self.policies:
            return None
        return self.held.get((kind, name))


@dataclass
class HiddenPolicies(FakeReviews):
    """Those of an identity that infra/rbac.yaml alone gives rights to, as the functions have."""

    hidden: frozenset[str] = frozenset({POLICIES, BINDINGS, ROLES})

    def standing(self, group: str, resource: str, name: str) -> Raw | None:
        if f"{resource}.{group}" in self.hidden:
            raise Forbidden("Kubernetes API", f"{name} is forbidden")
        return super().standing(group, resource, name)


def stored(state: ClusterState | None) -> FakeState:
    found = FakeState()
    if state is not None:
        found.put(CLUSTER_KEY, state, None)
    return found


def parts(
    *,
    pools: FakePools | None = None,
    reviews: FakeReviews | None = None,
    state: ClusterState | None = None,
    rules: Policy | EbbError | None = None,
    topics: Mapping[str, bool] | None = None,
    skew: timedelta = timedelta(),
    commitments: FakeCommitments | None = None,
) -> InstallationParts:
    """An installation in which all is well, but for what is given."""
    known = FakePools(POOLS) if pools is None else pools
    asked = FakeReviews() if reviews is None else reviews
    remembered = stored(ClusterState(last_pass=NOW - timedelta(minutes=4)) if state is None else state)
    return InstallationParts(
        settings=Settings(cluster=CLUSTER, topic=TOPIC),
        identity=lambda: "me@example.com",
        pools=once(known.read),
        cluster=lambda: FakeCluster(*(node(name, kubelet=Kubelet((1, 36))) for name in ("n1", "n2"))),
        reviews=lambda: asked,
        remembered=once(lambda: read_cluster(remembered)),
        policy=lambda: FakePolicySource(policy() if rules is None else rules),
        topic_rights=lambda: {TOPIC: True} if topics is None else topics,
        commitments=lambda: commitments or FakeCommitments(),
        now=lambda: NOW + skew,
    )


def bad(found: InstallationParts) -> list[tuple[str, Grade]]:
    return [(result.check, result.grade) for result in examine(found) if result.grade is not Grade.OK]


def test_a_healthy_installation_is_shown_check_by_check() -> None:
    found = list(examine(parts()))

    assert {result.grade for result in found} == {Grade.OK}
    assert {name for name, _ in CHECKS} | {"clock"} == {result.check for result in found}
    assert all(result.sentence.endswith(".") and not result.remedy for result in found)


@cases(
    "expected, found",
    ("no autoscaler", ("gke", Grade.WARN), parts(pools=FakePools({"a": NodePool("a", autoscaled=False)}))),
    ("no GKE API", ("gke", Grade.WARN), parts(pools=FakePools(POOLS, known=False))),
    ("no right", ("rbac", Grade.WARN), parts(reviews=FakeReviews(frozenset({("create", "pods/eviction")})))),
    ("no admission policy", ("admission", Grade.WARN), parts(reviews=FakeReviews(policies=frozenset()))),
    ("an admission policy that we may not see", ("admission", Grade.WARN), parts(reviews=HiddenPolicies())),
    ("a clock that is late", ("clock", Grade.WARN), parts(skew=timedelta(minutes=-1))),
    ("a topic closed to us", ("topics", Grade.WARN), parts(topics={TOPIC: False})),
    ("no pool enabled", ("policy", Grade.WARN), parts(rules=Policy())),
    ("a pool that is not there", ("policy", Grade.WARN), parts(pools=FakePools({"b": NodePool("b")}))),
    ("a typo", ("policy", Grade.FAIL), parts(rules=BadPolicy("policy.x: there is no such field."))),
    ("no pass yet", ("last_pass", Grade.WARN), parts(state=ClusterState())),
    ("a laptop of another version", ("version", Grade.WARN), parts(state=ClusterState(last_pass=NOW, version="0.0.9"))),
    ("no pass lately", ("last_pass", Grade.FAIL), parts(state=ClusterState(last_pass=NOW - timedelta(hours=1)))),
)
def test_what_is_wrong_is_found_with_a_remedy(expected: tuple[str, Grade], found: InstallationParts) -> None:
    assert bad(found) == [expected]
    assert all(result.remedy.endswith(".") for result in examine(found) if result.grade is not Grade.OK)


def test_a_pool_that_is_not_there_and_not_enabled_either_is_nothing_wrong() -> None:
    rules = policy()
    there_and_gone = replace(rules, pools={**rules.pools, "gone": PoolPolicy(enabled=False)})

    assert bad(parts(rules=there_and_gone)) == []


NO_AUTOSCALERS = frozenset({("list", "verticalpodautoscalers")})


@cases(
    "expected, served",
    ("there: it is missing", [("rbac", Grade.WARN), ("rbac", Grade.WARN)], OPTIONAL.values()),
    ("not there: nothing is missing", [], []),
)
def test_a_right_on_what_only_some_clusters_have_is_missed_there_alone(
    expected: list[tuple[str, Grade]], served: Iterable[str]
) -> None:
    found = parts(reviews=FakeReviews(NO_AUTOSCALERS, served=frozenset(served)))

    assert bad(found) == expected
    said = [result.sentence for result in examine(found) if result.grade is Grade.WARN]
    assert all("list verticalpodautoscalers" in line for line in said)


def test_every_kind_that_only_some_clusters_have_is_known_as_such() -> None:
    assert {name.partition(".")[2] for name in OPTIONAL.values()} - {""} <= OPTIONAL_GROUPS


def raising(failure: EbbError) -> InstallationParts:
    def opened() -> FakeCluster:
        raise failure

    return replace(parts(), cluster=opened)


@cases(
    "failure",
    ("silence", Retryable("Kubernetes API", "no answer")),
    ("a refusal", Terminal("GKE API", "403")),
    ("a wrong variable", BadSettings("EBB_ENDPOINT: the cluster has none.")),
)
def test_a_check_that_fails_does_not_hide_the_others(failure: EbbError) -> None:
    found = list(examine(raising(failure)))

    assert [result.sentence for result in found if result.grade is Grade.FAIL] == [f"{str(failure).removesuffix('.')}."]
    assert "last_pass" in {result.check for result in found}


def test_what_two_checks_look_at_is_asked_once_and_a_failure_shown_once() -> None:
    asked: list[str] = []

    def silent() -> PoolsReading:
        asked.append("gke")
        raise Retryable("GKE API", "no answer")

    found = list(examine(replace(parts(), pools=once(silent))))
    told = [(result.check, result.grade) for result in found if result.grade is not Grade.OK]

    assert asked == ["gke"]
    assert told == [("gke", Grade.FAIL), ("policy, autoscaler", Grade.SKIP)]


def test_every_right_of_the_functions_is_asked_for() -> None:
    reviews = FakeReviews()
    list(examine(parts(reviews=reviews)))
    grants = granted(filled(planner="planner", drainer="drainer"))

    options = {("delete", "", "pods"), *(tuple(right) for one in OPTIONS for right in rights_of_option(one.name))}
    assert set(reviews.asked) - options == {tuple(row) for every in grants.values() for row in every}
    assert rights().keys() == {"planner", "drainer"}


def test_with_a_kubeconfig_no_google_identity_is_looked_for() -> None:
    def nobody() -> str:
        raise Terminal("The identity", "none")

    local = replace(parts(), settings=Settings(cluster=CLUSTER, topic=TOPIC, kubeconfig="/k"), identity=nobody)

    assert bad(local) == []


def test_credentials_that_are_missing_are_shown_once_whatever_asks_for_them() -> None:
    def unidentified(what: str) -> Callable[[], Any]:
        def ask() -> Any:
            failure = Terminal(what, "no credentials")
            failure.everywhere = True
            raise failure

        return ask

    blind = replace(parts(), identity=unidentified("The identity"), pools=unidentified("GKE API"),
                    cluster=unidentified("GKE API"), remembered=unidentified("Firestore"))  # fmt: skip
    found = list(examine(blind))

    assert [(result.check, result.sentence) for result in found if result.grade is Grade.FAIL] == [
        ("identity", "The identity: no credentials.")
    ]
    assert [result.check for result in found if result.grade is Grade.SKIP] == [
        "gke, control_plane, state, policy, autoscaler, last_pass"
    ]
    assert [result.grade for result in found if result.grade is Grade.WARN] == []


def test_it_fails_a_pipeline_only_for_what_keeps_ebb_from_working(capsys: pytest.CaptureFixture[str]) -> None:
    show(parts(topics={TOPIC: False}))
    assert " checks: 0 failed, 1 warnings." in capsys.readouterr().out

    with pytest.raises(typer.Exit) as ended:
        show(raising(Terminal("GKE API", "403")))
    assert ended.value.exit_code == 1
    assert "FAIL  control_plane: GKE API: 403" in capsys.readouterr().out


def test_checks_that_are_skipped_are_one_line_and_no_finding(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit):
        show(parts(pools=FakePools(failure=Terminal("GKE API", "403"))))
    *_, last, _, total = capsys.readouterr().out.splitlines()

    assert last.startswith("skip  policy, autoscaler: ")
    assert total.endswith(" checks: 1 failed, 0 warnings.")


def test_without_its_variables_it_shows_which() -> None:
    with pytest.raises(BadSettings, match="EBB_CLUSTER is not set, nor is EBB_TOPIC, nor is EBB_POLICY"):
        installation_parts({})


def test_a_finding_is_one_line() -> None:
    assert all("\n" not in result.sentence for result in examine(parts(rules=BadPolicy("one.", "two."))))


READING = replace(policy(), commitments=Commitments(read=True))


@cases(
    "expected, rules, failure",
    ("a policy that reads none asks for none", [], policy(), Terminal("Compute API", "403")),
    ("they are listed", [Grade.OK], READING, None),
    ("the right is missing", [Grade.WARN], READING, Terminal("Compute API", "403")),
    ("an outage", [Grade.WARN], READING, Retryable("Compute API", "no answer")),
)
def test_commitments_are_listed_once_where_the_planner_reads_them(
    expected: list[Grade], rules: Policy, failure: EbbError | None
) -> None:
    found = examine(parts(rules=rules, commitments=FakeCommitments(failure=failure)))
    assert [result.grade for result in found if result.check == "commitments"] == expected
