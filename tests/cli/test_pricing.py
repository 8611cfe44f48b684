"""What a person says of prices, and the one line that says what all money rests on."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from functions.cli.input.options import LISTED, PriceOptions
from functions.cli.input.pricing import load_prices, price_notes, priced_nodes, unused_discounts
from functions.cli.output.format import monthly, use_currency
from shared.core.planning.prices import Attached
from shared.errors import BadInput
from tests.builders import cluster, node
from tests.depth import cases

OWN = "currency: CHF\nfamilies: {e2: {vcpu: 1, gib: 0, spot: 0.5, shapes: {standard: 4}}}\n"


@pytest.fixture(autouse=True)
def in_dollars() -> Iterator[None]:
    yield
    use_currency("USD")


def line(options: PriceOptions = LISTED, **changes: Any) -> str:
    return price_notes(cluster([node("n", **changes)]), load_prices(options))[0]


@cases(
    "expected, given",
    ("whose and of when", "the cluster autoscaler's price table of 2026-11", {}),
    ("region", "in USD, europe-west4 (1.101 of us-central1), no discount", {"zone": "europe-west4-a"}),
    ("a region that is not known", "mars-north1 as if us-central1", {"zone": "mars-north1-b"}),
    ("nodes without a zone", "nodes without a region as if us-central1", {"zone": ""}),
    ("what is not in them", "not disks, network, licences and the cluster fee.", {}),
    ("no spot machine", ", on demand, in USD", {}),
    ("a spot machine", ", on demand and spot, in USD", {"labels": {"cloud.google.com/gke-spot": "true"}}),
)
def test_the_basis_is_one_line(expected: str, given: dict[str, Any]) -> None:
    assert expected in line(**given)


def test_a_bare_table_shows_what_it_has_no_rate_of_and_needs_no_region_but_its_own() -> None:
    listed = load_prices(PriceOptions())
    own = replace(listed.basis, region="europe-west4")
    bare = replace(listed, gpus={}, local_ssd=Attached(), regions={}, basis=own)
    (told,) = price_notes(cluster([node("n", zone="europe-west4-a")]), bare)

    assert "They include machines, but not GPUs, local SSDs, disks, network, licences and the cluster fee." in told
    assert ", europe-west4, no discount" in told


def test_discounts_are_shown_and_taken_off() -> None:
    options = PriceOptions(discounts=("28%", "e2=37.5%"))
    prices = load_prices(options)

    assert "less all 28%, e2 37.5% (spot aside)" in line(options)
    assert prices.of(node("n")).per_hour == round(134_012 * Fraction(5, 8))
    assert prices.of(node("n", machine="n2-standard-4")).per_hour == round(194_236 * Fraction(72, 100))


def test_a_table_of_ones_own_brings_its_currency(tmp_path: Path) -> None:
    own = tmp_path / "own.yaml"
    own.write_text(OWN)

    assert load_prices(PriceOptions(own)).of(node("n", zone="europe-west4-a")).per_hour == 4_000_000
    assert monthly(1_000_000) == "CHF 730"
    assert "own.yaml, on demand, in CHF, europe-west4 as if listed" in line(PriceOptions(own), zone="europe-west4-a")


def test_another_currency_is_shown_by_its_rate_and_judged_in_the_tables() -> None:
    listed, converted = (load_prices(PriceOptions(currency=code)) for code in ("", "EUR=0.92"))

    assert converted.of(node("n")) == listed.of(node("n"))
    assert monthly(1_000_000) == "EUR 672"
    assert ", in EUR (0.92 for 1 USD), " in line(PriceOptions(currency="EUR=0.92"))


@cases(
    "expected, table, currency",
    ("the currency that the table names", "CHF 730", OWN, "CHF"),
    ("a table that names none", "EUR 730", OWN.replace("currency: CHF", "as_of: 2026-11"), "EUR"),
    ("dollars unless one is named", "$730", OWN.replace("currency: CHF", "as_of: 2026-11"), ""),
    ("a table that is converted to dollars", "$803", OWN, "USD=1.1"),
)
def test_a_table_of_ones_own_is_in_its_currency(expected: str, table: str, currency: str, tmp_path: Path) -> None:
    (own := tmp_path / "own.yaml").write_text(table)
    load_prices(PriceOptions(own, currency=currency))
    assert monthly(1_000_000) == expected


def test_what_is_estimated_is_named() -> None:
    found = price_notes(cluster([node("n", machine="x9-standard-4")]), load_prices(PriceOptions()))

    assert found[1] == "Prices are estimated for machines that the price table does not name whole: x9-standard-4."


def test_a_discount_for_machines_that_no_node_is_of_is_shown() -> None:
    nodes = cluster([node("n"), node("s", machine="n2-standard-4", labels={"cloud.google.com/gke-spot": "true"})])
    (told,) = unused_discounts(nodes, load_prices(PriceOptions(discounts=("28%", "e2=20%", "n2=10%", "c2=10%"))))

    assert told == "--discount: no node on demand is of c2 and n2, so that nothing is taken off for it."
    assert unused_discounts(nodes, load_prices(PriceOptions(discounts=("28%", "e2=20%")))) == ()


@pytest.mark.parametrize("currency", ["EUR", "chf", "€", "Fr"])
def test_a_currency_may_be_a_word_or_a_sign(currency: str) -> None:
    assert load_prices(PriceOptions(currency=f"{currency}=2")).basis.currency == currency


NO_CODES = ("EURO ZONE", "\x1b[31m", "VERYLONGNAME", "US\nD", "1", "$$", "EUR=0", "EUR=-1", "EUR=0,92", "EUR=")
NO_YAML = r"own\.yaml:\d: this cannot be read as YAML \([^0-9].*\); write it in the form"


@pytest.mark.parametrize(
    ("expected", "table", "options"),
    [
        *(("write 28%, or e2=28%", "", {"discounts": (text,)})
          for text in ("28", "e2", "x9=10%", "100%", "-5%", "e2=", "ten%")),
        *(("was given before; leave one of them out", "", {"discounts": twice})
          for twice in (("28%", "30%"), ("e2=20%", "e2=20%"))),
        *(("write a short code with a rate above 0", "", {"currency": code}) for code in NO_CODES),
        (r"own\.yaml: currency: 'not known': write a short code", OWN.replace("CHF", "not known"), {}),
        ("Ebb's price table is in USD. Convert it with --currency EUR=RATE", "", {"currency": "EUR"}),
        ("own.yaml is in CHF. Convert it with --currency EUR=RATE", OWN, {"currency": "EUR"}),
        (NO_YAML, "currency: [\nfamilies: {}\n", {}),
    ],
)  # fmt: skip
def test_what_no_price_can_be_made_of_is_refused_with_its_form(
    expected: str, table: str, options: dict[str, Any], tmp_path: Path
) -> None:
    (own := tmp_path / "own.yaml").write_text(table)
    with pytest.raises(BadInput, match=expected):
        load_prices(PriceOptions(own if table else None, **options))


def test_of_the_nodes_it_is_known_which_regions_they_are_priced_by_and_whether_some_are_spot() -> None:
    nodes = [node("n1", zone="us-central1-a"), node("n2", zone="europe-west4-a"), node("n3", zone="mars-west1-a")]
    found = priced_nodes(cluster(nodes), load_prices(PriceOptions()))

    share = load_prices(PriceOptions()).regions["europe-west4"]
    assert (found.regions, found.spot) == ({"europe-west4": share, "mars-west1": None, "us-central1": 1}, False)
    spot = node("n4", labels={"cloud.google.com/gke-spot": "true"})
    assert priced_nodes(cluster([spot]), load_prices(PriceOptions())).spot
