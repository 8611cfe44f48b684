"""The text is OpenMetrics 1.0 to a parser that is not ours, and the older Prometheus format to another."""

from dataclasses import replace
from fractions import Fraction
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.cli.output.openmetrics import MONEY, Gauge, distinct, exposition, one
from tests.cli.metric_texts import Parser, openmetrics_of, prometheus_of

COST: Final = Gauge("ebb_cost", "What it costs.", one, unit=MONEY)
NODES: Final = Gauge("ebb_nodes", "Nodes.", lambda pool: [((pool,), 1.0)], ("pool",))
PARSERS: Final = (pytest.param(openmetrics_of, id="OpenMetrics"), pytest.param(prometheus_of, id="Prometheus 0.0.4"))


def test_metadata_comes_before_samples_and_the_text_ends_as_it_must() -> None:
    text = exposition((replace(NODES, values=lambda _: ()), COST), [("prod", Fraction(5, 2))])
    assert text.splitlines() == [
        "# TYPE ebb_cost_dollars_per_hour gauge",
        "# UNIT ebb_cost_dollars_per_hour dollars_per_hour",
        "# HELP ebb_cost_dollars_per_hour What it costs.",
        'ebb_cost_dollars_per_hour{cluster="prod"} 2.5',
        "# EOF",
    ]


def test_nothing_at_all_is_a_text_too() -> None:
    assert list(openmetrics_of(exposition((COST,), []))) == []


@pytest.mark.parametrize(
    ("expected", "currency"),
    [
        pytest.param("ebb_cost_dollars_per_hour", "USD", id="dollars"),
        pytest.param("ebb_cost_eur_per_hour", "EUR", id="another currency"),
        pytest.param("ebb_cost_a_b_per_hour", "a{b}\n", id="a table that shows nonsense"),
        pytest.param("ebb_cost_money_per_hour", "€", id="a sign that no name may hold"),
    ],
)
def test_the_name_ends_with_its_unit_and_the_unit_shows_the_currency(expected: str, currency: str) -> None:
    (family,) = openmetrics_of(exposition((COST,), [("a", 1.0)], currency))
    assert (family.name, family.unit) == (expected, expected.removeprefix("ebb_cost_"))


@pytest.mark.parametrize("parse", PARSERS)
@given(names=st.tuples(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8"))))
def test_any_name_comes_back_as_it_was(parse: Parser, names: tuple[str, str]) -> None:
    (family,) = parse(exposition((NODES,), [names]))
    (sample,) = family.samples
    assert sample.labels == {"cluster": names[0], "pool": names[1]}


@given(value=st.fractions(min_value=-(10**9), max_value=10**9))
def test_any_figure_comes_back_as_near_as_it_is_written(value: Fraction) -> None:
    (family,) = openmetrics_of(exposition((COST,), [("a", value)]))
    assert family.samples[0].value == pytest.approx(float(value), abs=1e-8, rel=1e-12)


@pytest.mark.parametrize(
    ("expected", "names"),
    [
        pytest.param(("a", "b"), ("a", "b"), id="already"),
        pytest.param(("a", "a (2)", "a (3)"), ("a", "a", "a"), id="one name three times"),
        pytest.param(("a", "a (3)", "a (2)"), ("a", "a", "a (2)"), id="a name that looks like ours"),
    ],
)
def test_no_two_clusters_have_one_name(expected: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert distinct(names) == expected
