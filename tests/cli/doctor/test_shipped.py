"""What `ebb doctor` says where another version's fences and roles stand."""

from collections.abc import Callable
from typing import Any

from functions.cli.doctor.checks import examine
from functions.cli.doctor.installation import CheckResult, Grade
from tests.cli.doctor.standing import ADMISSION, BINDINGS, POLICIES, ROLES, Key, Raw, applied, everything, fences_of
from tests.cli.doctor.test_doctor import FakeReviews, HiddenPolicies, parts
from tests.depth import cases
from tests.rights.rbac import FILE, OPTIONS

Edit = Callable[[Raw], Any]
NODES, SURGE = (POLICIES, "ebb-drainer-nodes"), (POLICIES, "ebb-drainer-surge")
ROLE_BINDINGS = "clusterrolebindings.rbac.authorization.k8s.io"
NODES_BINDING, DRAINER = (BINDINGS, "ebb-drainer-nodes"), (ROLES, "ebb-drainer")
MORE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["delete", "list"]}
AUDIT = {"key": "a", "valueExpression": "'b'"}
SOME = {"matchLabels": {"a": "b"}}
NOT_FILLED_IN, EVERYBODY_ELSE = (f"request.userInfo.username {held}" for held in ("== '${drainer}'", "!= 'd@x.com'"))


def found_with(standing: dict[Key, Raw]) -> list[CheckResult]:
    """What is said where that stands; the identity is a person's, who may do everything."""
    reviews = FakeReviews(policies=fences_of(ADMISSION, *OPTIONS.values()), held=standing)
    return [result for result in examine(parts(reviews=reviews)) if result.grade is not Grade.OK]


def edited(key: Key, edit: Edit) -> dict[Key, Raw]:
    standing = everything()
    edit(standing[key])
    return standing


def spec(**fields: Any) -> Edit:
    return lambda raw: raw["spec"].update(fields)


def constraints(**fields: Any) -> Edit:
    return lambda raw: raw["spec"]["matchConstraints"].update(fields)


def rule(**fields: Any) -> Edit:
    return lambda raw: raw["spec"]["matchConstraints"]["resourceRules"][0].update(fields)


def first(part: str, **fields: Any) -> Edit:
    return lambda raw: raw["spec"][part][0].update(fields)


def more(part: str, **row: Any) -> Edit:
    return lambda raw: raw["spec"][part].append(row)


def less(part: str) -> Edit:
    return lambda raw: raw["spec"][part].pop()


@cases(
    "expected, key, edit",
    ("an expression", "validations", NODES, first("validations", expression="true")),
    ("a message", "validations", NODES, first("validations", message="No.")),
    ("one validation less", "validations", NODES, less("validations")),
    ("one more", "validations", NODES, more("validations", expression="true")),
    ("a variable", "variables", NODES, first("variables", expression="'other'")),
    ("no variables", "variables", NODES, lambda raw: raw["spec"].pop("variables")),
    ("what cannot be judged is let through", "failurePolicy", NODES, spec(failurePolicy="Ignore")),
    ("a placeholder", "matchConditions", NODES, first("matchConditions", expression=NOT_FILLED_IN)),
    ("all but ours", "matchConditions", NODES, first("matchConditions", expression=EVERYBODY_ELSE)),
    ("another operation", "matchConstraints", NODES, rule(operations=["CREATE"])),
    ("one node alone", "matchConstraints", NODES, rule(resourceNames=["n1"])),
    ("nothing without a namespace", "matchConstraints", NODES, rule(scope="Namespaced")),
    ("one version of the API alone", "matchConstraints", NODES, constraints(matchPolicy="Exact")),
    ("some objects alone", "matchConstraints", NODES, constraints(objectSelector=SOME)),
    ("some namespaces alone", "matchConstraints", NODES, constraints(namespaceSelector=SOME)),
    ("an exception", "matchConstraints", NODES, constraints(excludeResourceRules=[MORE])),
    ("parameters, which may be missing", "paramKind", NODES, spec(paramKind={"kind": "ConfigMap"})),
    ("a binding of another policy", "policyName", NODES_BINDING, spec(policyName="other")),
    ("shown, not refused", "validationActions", NODES_BINDING, spec(validationActions=["Audit"])),
    ("of some", "matchResources", NODES_BINDING, spec(matchResources={"namespaceSelector": SOME})),
    ("an object without a spec", "policyName, validationActions", NODES_BINDING, lambda raw: raw.pop("spec")),
    ("an option that nobody asks for", "variables", SURGE, less("variables")),
)
def test_an_admission_policy_that_is_not_this_versions_is_named_with_what_differs(
    expected: str, key: Key, edit: Edit
) -> None:
    (said,) = found_with(edited(key, edit))

    assert said.grade is Grade.WARN
    assert key[1] in said.sentence
    assert f"({expected})" in said.sentence, said.sentence
    assert said.sentence.startswith("The binding of ") is (key[0] == BINDINGS)
    file = "infra/options/surge.yaml" if key == SURGE else "infra/admission.yaml"
    assert f"Apply {file} again" in said.remedy
    assert "terraform apply" in said.remedy


@cases(
    "key, edit",
    ("with the API server's defaults", NODES, lambda _: None),
    ("a field that a newer Kubernetes writes", NODES, spec(someday="new")),
    ("what somebody has logged besides", NODES, spec(auditAnnotations=[AUDIT])),
    ("the reason's default", NODES, first("validations", reason="Invalid")),
    ("a field that is null", NODES_BINDING, spec(matchResources=None)),
    ("a role with less, which the reviews show", DRAINER, lambda raw: raw["rules"].pop()),
    ("a role with nothing", DRAINER, lambda raw: raw.update(rules=None)),
)
def test_what_this_version_ships_is_no_finding(key: Key, edit: Edit) -> None:
    assert found_with(edited(key, edit)) == []


@cases(
    "emails",
    ("on GKE", {"drainer": "d@my-project.iam.gserviceaccount.com", "planner": "p@x.com"}),
    ("elsewhere", {"drainer": "system:serviceaccount:ebb:d", "planner": "112233445566778899001"}),
)
def test_no_matter_who_the_functions_are_their_admission_policies_are_this_versions(emails: dict[str, str]) -> None:
    assert found_with(applied(ADMISSION, FILE, *OPTIONS.values(), **emails)) == []


@cases(
    "expected, more",
    ("a verb", "delete pods", MORE),
    ("everything", "get *", {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get"]}),
    ("a path of the server", "get /metrics", {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}),
)
def test_a_role_that_grants_more_is_named(expected: str, more: Raw) -> None:
    (said,) = found_with(edited(DRAINER, lambda raw: raw["rules"].append(more)))

    assert said.grade is Grade.WARN
    assert said.sentence == f"ebb-drainer grants more than this version of ebb ships: {expected}."
    assert "Apply infra/rbac.yaml again" in said.remedy


def test_the_role_of_an_option_is_looked_at_too() -> None:
    (said,) = found_with(edited((ROLES, "ebb-drainer-surge"), lambda raw: raw["rules"].append(MORE)))

    assert "list pods" in said.sentence
    assert "infra/options/surge.yaml" in said.remedy


OTHER = "request.userInfo.username == 'ebb-drainer@other.example.com'"


@cases("expected, bound", ("the role is another's", 1, True), ("nobody's", 0, False))
def test_an_admission_policy_that_holds_another_identity_than_the_role_is_named(expected: int, bound: bool) -> None:
    standing = edited(NODES, first("matchConditions", expression=OTHER))
    if not bound:
        del standing[ROLE_BINDINGS, "ebb-drainer"]

    said = found_with(standing)

    assert len(said) == expected
    assert all("matchConditions" in result.sentence for result in said)


def test_two_admission_policies_that_differ_are_two_findings_and_all_is_not_well() -> None:
    standing = edited(NODES, spec(failurePolicy="Ignore"))
    standing[POLICIES, "ebb-drainer-evictions"]["spec"]["validations"] = []

    assert [result.sentence.partition(" ")[0] for result in found_with(standing)] == [
        "ebb-drainer-nodes",
        "ebb-drainer-evictions",
    ]
    reviews = FakeReviews(held=standing)
    assert "admission" not in {result.check for result in examine(parts(reviews=reviews)) if result.grade is Grade.OK}


def test_a_policy_without_its_binding_is_missing() -> None:
    standing = everything()
    del standing[NODES_BINDING]

    (said,) = found_with(standing)
    assert "ebb-drainer-nodes missing" in said.sentence


@cases(
    "expected, hidden",
    ("a function", set(), frozenset({POLICIES, BINDINGS, ROLES})),
    ("a person who may see policies alone", {"admission"}, frozenset({ROLES})),
)
def test_what_may_not_be_seen_is_shown_once_and_ends_nothing(expected: set[str], hidden: frozenset[str]) -> None:
    found = list(examine(parts(reviews=HiddenPolicies(hidden=hidden))))
    bad = [result for result in found if result.grade is not Grade.OK]

    assert [(result.check, result.grade) for result in bad] == [("admission", Grade.WARN)]
    assert "may not see" in bad[0].sentence
    assert {result.check for result in found if result.grade is Grade.OK} & {"admission"} == expected
