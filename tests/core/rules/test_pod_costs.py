import pytest

from shared.core.cluster import names
from shared.core.rules.pod_costs import unread_costs, written_cost
from tests.builders import cluster, node, pod, pod_class

SHARED, KARPENTER = names.DISRUPTION_COSTS
DELETION = names.DELETION_COST


@pytest.mark.parametrize(
    ("expected", "written"),
    [
        pytest.param(0, {}, id="nothing"),
        pytest.param(100, {DELETION: "100"}, id="a deletion cost"),
        pytest.param(-100, {DELETION: "-100"}, id="a negative one"),
        pytest.param(0, {DELETION: "0"}, id="zero"),
        pytest.param(-(2**31), {DELETION: "-2147483648"}, id="the least"),
        pytest.param(0, {DELETION: "2147483648"}, id="33 bits"),
        pytest.param(0, {DELETION: "-2147483649"}, id="33 bits, negative"),
        pytest.param(0, {DELETION: "99999999999999999999"}, id="far too long"),
        pytest.param(0, {DELETION: "+10"}, id="a plus sign"),
        pytest.param(0, {DELETION: "008"}, id="leading zeros"),
        pytest.param(-8, {DELETION: "-008"}, id="leading zeros behind a minus, as Kubernetes reads them"),
        pytest.param(0, {DELETION: "--1"}, id="two signs"),
        pytest.param(0, {DELETION: "1.5"}, id="a fraction"),
        pytest.param(0, {DELETION: " 1"}, id="a space"),
        pytest.param(0, {DELETION: "\u0661"}, id="digits of another script"),
        pytest.param(0, {DELETION: ""}, id="empty"),
        pytest.param(7, {SHARED: "7", KARPENTER: "8", DELETION: "9"}, id="the shared name first"),
        pytest.param(8, {KARPENTER: "8", DELETION: "9"}, id="then Karpenter's"),
        pytest.param(0, {SHARED: "0", DELETION: "9"}, id="zero is a value"),
        pytest.param(9, {SHARED: "-1", DELETION: "9"}, id="a disruption cost is never negative"),
        pytest.param(9, {SHARED: "cheap", KARPENTER: "2147483648", DELETION: "9"}, id="what can be read counts"),
        pytest.param(2**31 - 1, {SHARED: "2147483647"}, id="the most"),
    ],
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
