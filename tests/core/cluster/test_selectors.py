import pytest

from shared.core.cluster.selectors import (
    LabelSelector,
    NodeTerm,
    PodTerm,
    Requirement,
    Taint,
    Toleration,
    tolerates_all,
)

NUMBERS = {"padded": "007", "grouped": "1_000", "largest": str(2**63 - 1), "larger": str(2**63)}
LABELS = {"disk": "ssd", "cores": "16", "empty": "", **NUMBERS}
TAINT = Taint("team", "NoSchedule", "a")


@pytest.mark.parametrize(
    ("expected", "asked"),
    [
        pytest.param(True, Requirement("disk", "In", ("hdd", "ssd")), id="one of the values"),
        pytest.param(False, Requirement("disk", "In", ("hdd",)), id="none of the values"),
        pytest.param(False, Requirement("other", "In", ("ssd",)), id="In asks for the key"),
        pytest.param(False, Requirement("disk", "NotIn", ("hdd", "ssd")), id="a value that is excluded"),
        pytest.param(True, Requirement("disk", "NotIn", ("hdd",)), id="a value that is not"),
        pytest.param(True, Requirement("other", "NotIn", ("hdd",)), id="without the key nothing is excluded"),
        pytest.param(True, Requirement("empty", "Exists"), id="an empty value exists"),
        pytest.param(False, Requirement("other", "Exists"), id="a key that is not there"),
        pytest.param(False, Requirement("disk", "DoesNotExist"), id="a key that should not be there"),
        pytest.param(True, Requirement("other", "DoesNotExist"), id="and is not"),
        pytest.param(True, Requirement("cores", "Gt", ("15",)), id="greater, as numbers: 16 is after 9 too"),
        pytest.param(True, Requirement("cores", "Gt", ("9",)), id="greater than nine"),
        pytest.param(False, Requirement("cores", "Gt", ("16",)), id="equal is not greater"),
        pytest.param(True, Requirement("cores", "Lt", ("17",)), id="less"),
        pytest.param(False, Requirement("cores", "Lt", ("16",)), id="equal is not less"),
        pytest.param(False, Requirement("disk", "Gt", ("1",)), id="a word is no number"),
        pytest.param(False, Requirement("other", "Lt", ("1",)), id="no value is no number"),
        pytest.param(False, Requirement("cores", "Gt", ("1", "2")), id="two bounds are none"),
        pytest.param(True, Requirement("padded", "Lt", ("8",)), id="leading zeros are decimal"),
        pytest.param(False, Requirement("grouped", "Gt", ("1",)), id="digits with an underscore are no number"),
        pytest.param(False, Requirement("cores", "Lt", ("1_000",)), id="nor is such a bound"),
        pytest.param(True, Requirement("largest", "Gt", ("1",)), id="the largest number of 64 bits"),
        pytest.param(False, Requirement("larger", "Gt", ("1",)), id="a number of more than 64 bits is none"),
        pytest.param(False, Requirement("cores", "Lt", ("9223372036854775808",)), id="nor is such a bound of more"),
        pytest.param(False, Requirement("cores", "Gt", ("-3",)), id="a bound that no label could be is none"),
        pytest.param(False, Requirement("cores", "Gt", ("\u0663",)), id="digits are ASCII"),
        pytest.param(False, Requirement("disk", "Like", ("ssd",)), id="an operator that nobody knows"),
    ],
)
def test_a_requirement_matches_labels(expected: bool, asked: Requirement) -> None:
    assert asked.matches(LABELS) is expected


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        pytest.param(True, Toleration("team", "Equal", "a", "NoSchedule"), id="key, value and effect"),
        pytest.param(True, Toleration("team", "", "a"), id="no operator means Equal, no effect every effect"),
        pytest.param(False, Toleration("team", "Equal", "b"), id="another value"),
        pytest.param(False, Toleration("team", "Equal"), id="no value is a value"),
        pytest.param(True, Toleration("team", "Exists"), id="whatever the value"),
        pytest.param(False, Toleration("team", "Exists", "", "NoExecute"), id="another effect"),
        pytest.param(False, Toleration("other", "Exists"), id="another key"),
        pytest.param(True, Toleration("", "Exists"), id="everything"),
        pytest.param(False, Toleration("", "Equal", "a"), id="an empty key needs Exists"),
        pytest.param(False, Toleration("team", "Like", "a"), id="an operator that nobody knows"),
    ],
)
def test_a_toleration_is_held_against_a_taint(expected: bool, given: Toleration) -> None:
    assert given.tolerates(TAINT) is expected
    assert tolerates_all((TAINT,), (given,)) is expected


def test_every_taint_that_repels_has_to_be_tolerated_by_any_of_them() -> None:
    taints = (TAINT, Taint("gpu", "NoExecute"), Taint("soft", "PreferNoSchedule"))

    assert tolerates_all(taints, (Toleration("gpu", "Exists"), Toleration("team", "Exists")))
    assert not tolerates_all(taints, (Toleration("team", "Exists"),))


def test_a_node_term_asks_for_all_its_parts_and_an_empty_one_matches_nothing() -> None:
    ssd, named = Requirement("disk", "Exists"), Requirement("metadata.name", "In", ("n1",))

    assert NodeTerm((ssd,), (named,)).matches(LABELS, "n1")
    assert not NodeTerm((ssd,), (named,)).matches(LABELS, "n2")
    assert not NodeTerm((ssd,), (named,)).matches({}, "n1")
    assert not NodeTerm().matches(LABELS, "n1")


@pytest.mark.parametrize(
    ("expected", "namespace", "labels"),
    [
        pytest.param(True, "shop", {}, id="a namespace that is named"),
        pytest.param(True, "other", {"team": "a"}, id="one that its selector chooses"),
        pytest.param(False, "other", {}, id="neither"),
    ],
)
def test_a_pod_term_means_the_pods_of_its_namespaces(expected: bool, namespace: str, labels: dict[str, str]) -> None:
    web, of_team = (
        LabelSelector((Requirement(key, "In", (value,)),)) for key, value in (("app", "web"), ("team", "a"))
    )
    term = PodTerm("zone", web, ("shop",), of_team)

    assert term.matches(namespace, labels, {"app": "web"}) is expected
    assert not term.matches(namespace, labels, {"app": "db"})
