from shared.core.cluster.selectors import (
    LabelSelector,
    NodeTerm,
    PodTerm,
    Requirement,
    Taint,
    Toleration,
    tolerates_all,
)
from tests.depth import cases

NUMBERS = {"padded": "007", "grouped": "1_000", "largest": str(2**63 - 1), "larger": str(2**63)}
LABELS = {"disk": "ssd", "cores": "16", "empty": "", **NUMBERS}
TAINT = Taint("team", "NoSchedule", "a")


@cases(
    "expected, asked",
    ("one of the values", True, Requirement("disk", "In", ("hdd", "ssd"))),
    ("none of the values", False, Requirement("disk", "In", ("hdd",))),
    ("In asks for the key", False, Requirement("other", "In", ("ssd",))),
    ("a value that is excluded", False, Requirement("disk", "NotIn", ("hdd", "ssd"))),
    ("a value that is not", True, Requirement("disk", "NotIn", ("hdd",))),
    ("without the key nothing is excluded", True, Requirement("other", "NotIn", ("hdd",))),
    ("an empty value exists", True, Requirement("empty", "Exists")),
    ("a key that is not there", False, Requirement("other", "Exists")),
    ("a key that should not be there", False, Requirement("disk", "DoesNotExist")),
    ("and is not", True, Requirement("other", "DoesNotExist")),
    ("greater, as numbers: 16 is after 9 too", True, Requirement("cores", "Gt", ("15",))),
    ("greater than nine", True, Requirement("cores", "Gt", ("9",))),
    ("equal is not greater", False, Requirement("cores", "Gt", ("16",))),
    ("less", True, Requirement("cores", "Lt", ("17",))),
    ("equal is not less", False, Requirement("cores", "Lt", ("16",))),
    ("a word is no number", False, Requirement("disk", "Gt", ("1",))),
    ("no value is no number", False, Requirement("other", "Lt", ("1",))),
    ("two bounds are none", False, Requirement("cores", "Gt", ("1", "2"))),
    ("leading zeros are decimal", True, Requirement("padded", "Lt", ("8",))),
    ("digits with an underscore are no number", False, Requirement("grouped", "Gt", ("1",))),
    ("nor is such a bound", False, Requirement("cores", "Lt", ("1_000",))),
    ("the largest number of 64 bits", True, Requirement("largest", "Gt", ("1",))),
    ("a number of more than 64 bits is none", False, Requirement("larger", "Gt", ("1",))),
    ("nor is such a bound of more", False, Requirement("cores", "Lt", ("9223372036854775808",))),
    ("a bound that no label could be is none", False, Requirement("cores", "Gt", ("-3",))),
    ("digits are ASCII", False, Requirement("cores", "Gt", ("\u0663",))),
    ("an operator that nobody knows", False, Requirement("disk", "Like", ("ssd",))),
)
def test_a_requirement_matches_labels(expected: bool, asked: Requirement) -> None:
    assert asked.matches(LABELS) is expected


@cases(
    "expected, given",
    ("key, value and effect", True, Toleration("team", "Equal", "a", "NoSchedule")),
    ("no operator means Equal, no effect every effect", True, Toleration("team", "", "a")),
    ("another value", False, Toleration("team", "Equal", "b")),
    ("no value is a value", False, Toleration("team", "Equal")),
    ("whatever the value", True, Toleration("team", "Exists")),
    ("another effect", False, Toleration("team", "Exists", "", "NoExecute")),
    ("another key", False, Toleration("other", "Exists")),
    ("everything", True, Toleration("", "Exists")),
    ("an empty key needs Exists", False, Toleration("", "Equal", "a")),
    ("an operator that nobody knows", False, Toleration("team", "Like", "a")),
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


@cases(
    "expected, namespace, labels",
    ("a namespace that is named", True, "shop", {}),
    ("one that its selector chooses", True, "other", {"team": "a"}),
    ("neither", False, "other", {}),
)
def test_a_pod_term_means_the_pods_of_its_namespaces(expected: bool, namespace: str, labels: dict[str, str]) -> None:
    web, of_team = (
        LabelSelector((Requirement(key, "In", (value,)),)) for key, value in (("app", "web"), ("team", "a"))
    )
    term = PodTerm("zone", web, ("shop",), of_team)

    assert term.matches(namespace, labels, {"app": "web"}) is expected
    assert not term.matches(namespace, labels, {"app": "db"})
