"""Quantities and selectors, read by the simulated GKE on its own."""

from fractions import Fraction

import pytest

from infra.local.world.kinds import Json, matches
from infra.local.world.pods import quantity, units


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        pytest.param(Fraction(1, 10), "100m", id="millis"),
        pytest.param(Fraction(3 * 2**29), "1.5Gi", id="a binary fraction"),
        pytest.param(Fraction(2000), "2e3", id="an exponent"),
        pytest.param(Fraction(10**18), "1E", id="exa, not an exponent"),
        pytest.param(Fraction(-1, 2), "-.5", id="no leading digit"),
        pytest.param(Fraction(1, 10**9), "1n", id="nano"),
    ],
)
def test_a_quantity_is_exact(expected: Fraction, text: str) -> None:
    assert quantity(text) == expected


@pytest.mark.parametrize("text", ["", "1.2.3", "10 Mi", "1mi", "Gi"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity"):
        quantity(text)


def test_units_round_up() -> None:
    assert (units("cpu", "0.1001"), units("memory", "1.5")) == (101, 2)


@pytest.mark.parametrize(
    ("expected", "selector"),
    [
        pytest.param(False, None, id="absent matches nothing"),
        pytest.param(True, {}, id="empty matches everything"),
        pytest.param(
            False,
            {"matchLabels": {"n": "5"}, "matchExpressions": [{"key": "n", "operator": "DoesNotExist"}]},
            id="all must hold",
        ),
    ],
)
def test_a_selector_object_matches(expected: bool, selector: Json | None) -> None:
    assert matches(selector, {"n": "5"}) is expected
