"""Quantities and selectors, read by the simulated GKE on its own."""

from fractions import Fraction

import pytest

from infra.local.world.kinds import Json, fields_match, matches, text_matches
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
    ("expected", "text"),
    [
        pytest.param(True, "", id="empty matches all"),
        pytest.param(True, "app=web,tier!=db", id="equality"),
        pytest.param(True, "app in (web, api),tier", id="set based"),
        pytest.param(False, "app notin (web)", id="notin"),
        pytest.param(False, "!app", id="absent"),
        pytest.param(True, "other notin (x)", id="notin holds for an absent key"),
        pytest.param(False, "app==api", id="double equals"),
    ],
)
def test_a_label_query_reads_as_the_api_server_reads_it(expected: bool, text: str) -> None:
    assert text_matches(text, {"app": "web", "tier": "front"}) is expected


@pytest.mark.parametrize(
    ("expected", "selector"),
    [
        pytest.param(False, None, id="absent matches nothing"),
        pytest.param(True, {}, id="empty matches everything"),
        pytest.param(True, {"matchExpressions": [{"key": "n", "operator": "Gt", "values": ["3"]}]}, id="greater"),
        pytest.param(False, {"matchExpressions": [{"key": "n", "operator": "Lt", "values": ["3"]}]}, id="less"),
        pytest.param(
            False,
            {"matchLabels": {"n": "5"}, "matchExpressions": [{"key": "n", "operator": "DoesNotExist"}]},
            id="all must hold",
        ),
    ],
)
def test_a_selector_object_matches(expected: bool, selector: Json | None) -> None:
    assert matches(selector, {"n": "5"}) is expected


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        pytest.param(True, "spec.nodeName=a", id="node"),
        pytest.param(False, "status.phase!=Running", id="not the phase"),
        pytest.param(True, "metadata.name=p,status.phase=Running", id="both"),
        pytest.param(True, "spec.missing=", id="absent is empty"),
    ],
)
def test_a_field_query_matches(expected: bool, text: str) -> None:
    thing = {"metadata": {"name": "p"}, "spec": {"nodeName": "a"}, "status": {"phase": "Running"}}
    assert fields_match(text, thing) is expected
