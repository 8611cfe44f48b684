from shared.core.cluster import names
from shared.core.rules.pod_costs import unread_costs, written_cost
from tests.builders import cluster, node, pod, pod_class
from tests.depth import cases

SHARED, KARPENTER = names.DISRUPTION_COSTS
DELETION = names.DELETION_COST


@cases(
    "expected, written",
    ("nothing", 0, {}),
    ("a deletion cost", 100, {DELETION: "100"}),
    ("a negative one", -100, {DELETION: "-100"}),
    ("zero", 0, {DELETION: "0"}),
    ("the least", -(2**31), {DELETION: "-2147483648"}),
    ("33 bits", 0, {DELETION: "2147483648"}),
    ("33 bits, negative", 0, {DELETION: "-2147483649"}),
    ("far too long", 0, {DELETION: "99999999999999999999"}),
    ("a plus sign", 0, {DELETION: "+10"}),
    ("leading zeros", 0, {DELETION: "008"}),
    ("leading zeros behind a minus, as Kubernetes reads them", -8, {DELETION: "-008"}),
    ("two signs", 0, {DELETION: "--1"}),
    ("a fraction", 0, {DELETION: "1.5"}),
    ("a space", 0, {DELETION: " 1"}),
    ("digits of another script", 0, {DELETION: "\u0661"}),
    ("empty", 0, {DELETION: ""}),
    ("the shared name first", 7, {SHARED: "7", KARPENTER: "8", DELETION: "9"}),
    ("then Karpenter's", 8, {KARPENTER: "8", DELETION: "9"}),
    ("zero is a value", 0, {SHARED: "0", DELETION: "9"}),
    ("a disruption cost is never negative", 9, {SHARED: "-1", DELETION: "9"}),
    ("what can be read counts", 9, {SHARED: "cheap", KARPENTER: "2147483648", DELETION: "9"}),
    ("the most", 2**31 - 1, {SHARED: "2147483647"}),
)
def test_the_first_that_can_be_read_counts(expected: int, written: dict[str, str]) -> None:
    assert written_cost(pod("p", annotations=written).spec) == expected


def test_what_cannot_be_read_is_named_with_whose_it_is_and_how_many() -> None:
    kind = pod_class(annotations={DELETION: "+1", SHARED: "3"})
    odd = [pod(f"p{n}", on="n1", kind=kind) for n in range(3)]
    (sentence,) = unread_costs(cluster([node("n1")], odd))
    assert sentence == (
        "default/ReplicaSet/web: controller.kubernetes.io/pod-deletion-cost is '+1' on 3 pods, no integer of 32 bits "
        "without a plus sign and leading zeros; it does not count."
    )


def test_of_many_that_cannot_be_read_the_rest_is_counted() -> None:
    odd = [pod(f"p{n}", on="n1", annotations={SHARED: f"odd-{n}"}) for n in range(8)]
    *named, rest = unread_costs(cluster([node("n1")], odd))
    assert (len(named), rest) == (5, "3 more costs of pods cannot be read and do not count.")


def test_costs_that_can_be_read_are_not_named() -> None:
    fine = [pod("a", on="n1", annotations={DELETION: "-5"}), pod("b", on="n1", annotations={KARPENTER: "5"})]
    assert unread_costs(cluster([node("n1")], fine)) == ()
