"""What `ebb doctor` says of rights that only an option of the policy needs."""

from dataclasses import replace
from typing import Any

from functions.cli.doctor.checks import examine
from functions.cli.doctor.installation import Grade, InstallationParts
from functions.cli.doctor.rights import NAME, OPTIONS, rights_of_option
from shared.core.cluster.workloads import Deployment, Workload
from shared.core.policy import SingleReplicas
from tests.builders import node, policy
from tests.cli.doctor.standing import fences_of
from tests.cli.doctor.test_doctor import FENCES, FakeReviews, parts
from tests.depth import cases
from tests.fakes import FakeCluster
from tests.rights import rbac
from tests.rights.rbac import filled, granted


def granting(*names: str, wide: bool = False, fences: bool = True) -> FakeReviews:
    """Reviews of an identity with the optional rights of those names; `wide`: of a person who may do everything."""
    kept = {right for option in OPTIONS if option.name not in names for right in rights_of_option(option.name)}
    lacking = {(right.verb, right.resource) for right in kept}
    shipped = fences_of(*rbac.OPTIONS.values()) if fences else frozenset()
    none = frozenset() if wide else frozenset({("delete", "pods"), *lacking})
    return FakeReviews(none, FENCES | shipped)


def asking(wish: str, **rules: Any) -> InstallationParts:
    """An installation without optional rights, and a Deployment with the annotation."""
    cluster = FakeCluster(node("n1"))
    told = Deployment(name="shop/Deployment/web", wish=wish)
    cluster.workloads["shop/ReplicaSet/web-1"] = Workload(told.name, 1, 1, deployment=told)
    return replace(parts(reviews=granting(), rules=policy(**rules)), cluster=lambda: cluster)


SURGING, STEERING = policy(single_replicas=SingleReplicas.SURGE), policy(steer_scale_in=True)
OFF = policy(single_replicas=SingleReplicas.SURGE, enabled=False)


@cases(
    "expected, found",
    ("nothing asked, nothing granted", [], parts(reviews=granting())),
    ("asked and granted", [], parts(reviews=granting("surge"), rules=SURGING)),
    ("the planner's, too", [], parts(reviews=granting("steer"), rules=STEERING)),
    ("asked, not granted", ["patch deployments"], parts(reviews=granting(), rules=SURGING)),
    ("the planner's is not granted", ["patch pods"], parts(reviews=granting(), rules=STEERING)),
    ("no admission policy", ["missing: nothing limits"], parts(reviews=granting("surge", fences=False), rules=SURGING)),
    ("granted for nothing", ["nothing asks for it"], parts(reviews=granting("surge"))),
    ("another for nothing", ["nothing asks for it"], parts(reviews=granting("steer"))),
    ("asked by an annotation", ["1 Deployment with the annotation"], asking("true")),
    ("forbidden by an annotation", [], asking("false")),
    ("never of the policy holds against annotations", [], asking("true", single_replicas=SingleReplicas.NEVER)),
    ("a person may do everything, which shows nothing", [], parts(reviews=granting(wide=True))),
    ("asked by a pool that is off", [], parts(reviews=granting(), rules=OFF)),
)
def test_a_right_of_an_option_is_there_where_it_is_on_and_absent_where_it_is_off(
    expected: list[str], found: InstallationParts
) -> None:
    said = [result for result in examine(found) if result.check == NAME and result.grade is not Grade.OK]

    assert len(said) == len(expected)
    for result, words in zip(said, expected, strict=True):
        assert result.grade is Grade.WARN
        assert words in result.sentence, result.sentence
        assert "infra/options/" in result.remedy


def test_the_options_are_those_that_are_shipped_with_their_functions() -> None:
    assert [option.name for option in OPTIONS] == [*rbac.OPTIONS]
    for option in OPTIONS:
        assert granted(filled(rbac.OPTIONS[option.name], planner="planner", drainer="drainer")).keys() == {
            option.function
        }
