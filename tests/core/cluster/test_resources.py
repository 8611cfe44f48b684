from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.utils import quantity

from shared.core.cluster.resources import NOTHING, Resources, amount, parse_quantity, total
from shared.errors import BadInput
from tests.builders import resources
from tests.depth import cases

reference: Callable[[str], Decimal] = quantity.parse_quantity
SUFFIXES = ("", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
numbers = st.decimals(0, 10**6, places=3, allow_nan=False, allow_infinity=False)


@pytest.mark.acceptance(15)
@pytest.mark.parametrize(
    "text",
    ["0", "1", "100m", "1500m", "0.5", "1.5Gi", "128974848", "129e6", "129M", "123Mi", "1e3", "1E3", "12e-3"]
    + [f"3{suffix}" for suffix in SUFFIXES]
    + [".5", "5.", "+1", "-1", "1Ki", "999999999999999999Ki"],
)
def test_every_form_has_the_reference_value(text: str) -> None:
    assert parse_quantity(text) == Fraction(reference(text))


@pytest.mark.acceptance(15)
@given(numbers, st.sampled_from(SUFFIXES))
def test_any_number_with_any_suffix_has_the_reference_value(number: Decimal, suffix: str) -> None:
    assert float(parse_quantity(f"{number:f}{suffix}")) == pytest.approx(float(reference(f"{number:f}{suffix}")))


@pytest.mark.acceptance(15)
@cases(
    "expected, name, text",
    ("millicores", 100, "cpu", "100m"),
    ("cores", 1500, "cpu", "1.5"),
    ("a part of a millicore rounds up", 1, "cpu", "1u"),
    ("a bare number", 2000, "cpu", 2),
    ("bytes", 1024, "memory", "1Ki"),
    ("a part of a byte rounds up", 1, "memory", "100m"),
    ("exa, not an exponent", 10**18, "memory", "1E"),
    ("pieces", 110, "pods", "110"),
    ("capped as the API server caps it", 2**63 - 1, "memory", "100E"),
    ("cores capped before they are millicores", (2**63 - 1) * 1000, "cpu", "9223372036854775808"),
)
def test_an_amount_is_in_the_unit_of_the_scheduler(expected: int, name: str, text: str | float) -> None:
    assert amount(name, text) == expected


@pytest.mark.parametrize("text", ["-1", "-100m", "-1e999", -4])
def test_no_amount_is_below_0(text: str | float) -> None:
    with pytest.raises(BadInput, match="is below 0"):
        amount("memory", text)


@pytest.mark.parametrize("text", ["", "m", "1 Gi", "1ki", "1GB", "--1", "0x10", "1e", "e3", "1mi", "NaN", "inf"])
def test_what_is_no_quantity_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(BadInput, match="is not a quantity"):
        parse_quantity(text)


def test_a_number_longer_than_any_is_refused_in_a_short_sentence() -> None:
    with pytest.raises(BadInput, match="more than 1000 digits") as refusal:
        parse_quantity("9" * 5000)

    assert len(str(refusal.value)) < 200


def test_zero_and_absent_are_the_same() -> None:
    assert Resources.parse({"cpu": "0", "memory": "1Gi"}) == resources(memory=1)


@cases(
    "expected, needed",
    ("nothing fits anywhere", True, NOTHING),
    ("exactly full", True, resources(2, 4)),
    ("a millicore too much", False, resources(2.001, 1)),
    ("what the node has not", False, Resources.of({"nvidia.com/gpu": 1})),
)
def test_a_vector_fits_where_every_amount_does(expected: bool, needed: Resources) -> None:
    assert needed.fits(resources(2, 4)) is expected


def test_a_sum_subtracts_back() -> None:
    one, two = resources(1, 2), resources(0.5, pods=3)

    assert total([one, two]) == one + two
    assert one + two - two == one
