"""Prices by a person's options, and the line that names what all figures of money rest on."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from functions.cli.input.options import PriceOptions
from functions.cli.output.format import some, use_currency
from shared.core.cluster.snapshot import Snapshot
from shared.core.planning.prices import DOLLARS, FALLBACK, Attached, Family, PriceBasis, Prices, Rates
from shared.errors import BadInput

ESTIMATED: Final = "Prices are estimated for machines that the price table does not name whole: {machines}."
UNPRICED: Final = "No price is known for {machines}: no money is shown for these nodes. --prices FILE can name one."
NOT_CONVERTED: Final = (
    "--currency: {table} is in {own}. Convert it with --currency {wanted}=RATE, {wanted} for 1 {own}; "
    "or name a price table in {wanted} with --prices."
)
_CURRENCY: Final = re.compile(r"(?P<code>[^\W\d_]{1,8}|[$€£¥₹₩₽₺₴])(?:=(?P<rate>\d{1,9}(?:\.\d{1,9})?))?")
"""A word or a sign; a row of a table has no room for more, and a terminal must not take it for a command."""
_SHOWN: Final = 20
_DISCOUNT: Final = re.compile(r"(?:(?P<family>[a-z]\d[a-z]?)=)?(?P<percent>\d{1,2}(?:\.\d+)?)%")


def load_prices(options: PriceOptions) -> Prices:
    """Return the prices that a person means, and show money in their currency from now on.

    Plans are made in the table's currency, because amounts of the policy are in it; what is shown is converted. Raises
    BadInput: the table cannot be read, a discount is none, or the currency is another one without a rate.
    """
    from shared.adapters.prices import OWN_TABLE, load

    prices = load(options.table or OWN_TABLE)
    basis = _use_currency_of(options, prices.basis)
    return replace(prices, discounts=_discounts(options.discounts, prices), basis=basis)


def _use_currency_of(options: PriceOptions, table: PriceBasis) -> PriceBasis:
    """Show money in the currency of the options, or the table's. A table that names none is in that of the options."""
    wanted, rate = _currency(options.currency, "--currency") if options.currency else ("", None)
    own = _currency(table.currency, f"{options.table}: currency")[0] if table.currency else wanted or DOLLARS
    if wanted not in ("", own) and rate is None:
        name = f"the price table {options.table}" if options.table else "Ebb's price table"
        raise BadInput(NOT_CONVERTED.format(table=name, own=own, wanted=wanted))
    use_currency(wanted or own, rate or Fraction(1))
    converted = f"{float(rate):g} for 1 {own}" if rate else ""
    return replace(table, currency=wanted or own, converted=converted)


def _currency(written: str, where: str) -> tuple[str, Fraction | None]:
    match = _CURRENCY.fullmatch(written)
    rate = Fraction(match["rate"]) if match and match["rate"] else None
    if match is None or rate == 0:
        raise BadInput(f"{where}: {written[:_SHOWN]!r}: write a short code with a rate above 0, such as EUR=0.92.")
    return match["code"], rate


def _discounts(written: Iterable[str], prices: Prices) -> Mapping[str, Fraction]:
    found: dict[str, Fraction] = {}
    for text in written:
        match = _DISCOUNT.fullmatch(text)
        family = (match["family"] or "") if match else ""
        if match is None or (family and family not in prices.families):
            known = some(sorted(prices.families), 20)
            raise BadInput(f"--discount: {text!r}: write 28%, or e2=28% for one family of machines ({known}).")
        if family in found:
            raise BadInput(f"--discount: {text!r}: {family or 'one for all'} was given before; leave one of them out.")
        found[family] = Fraction(match["percent"]) / 100
    return found


_GOOGLES: Final = re.compile(r"[a-z]+\d+[a-z]*-[a-z\d-]+|custom-.+")
_FREE: Final = Rates(Fraction(0), Fraction(0))


def prices_of(snapshot: Snapshot, prices: Prices) -> Prices:
    """Return the prices here: no estimates, only named machines, where nodes show another cloud than Google's."""
    in_pools = any(node.pool for node in snapshot.nodes)
    machines = {node.machine for node in snapshot.nodes if node.machine}
    if in_pools and (not machines or any(map(_GOOGLES.fullmatch, machines))):
        return prices
    return replace(prices, families={FALLBACK: Family(_FREE, _FREE, Fraction(1), {})})


def unused_discounts(snapshot: Snapshot, prices: Prices) -> tuple[str, ...]:
    """Return a sentence on the families of machines that a discount was written for and that no node has."""
    paid = {node.machine.partition("-")[0] for node in snapshot.nodes if not node.spot}
    unused = sorted(family for family in prices.discounts if family and family not in paid)
    if not unused or not snapshot.nodes:
        return ()
    families = " and ".join(unused)
    return (f"--discount: no node on demand is of {families}, so that nothing is taken off for it.",)


def price_notes(snapshot: Snapshot, prices: Prices) -> tuple[str, ...]:
    """Return the line that describes the figures, and others for estimates, if there are any."""
    rests_on = prices.basis
    dated = f" of {rests_on.as_of}" if rests_on.as_of else ""
    offers = "on demand and spot" if any(node.spot for node in snapshot.nodes) else "on demand"
    currency = f"{rests_on.currency} ({rests_on.converted})" if rests_on.converted else rests_on.currency
    line = (
        f"Prices: {rests_on.source or 'an own table'}{dated}, {offers}, in {currency}, "
        f"{_regions(snapshot, prices)}, {_off(prices)}. "
        f"They include {_attached(prices)}, network, licences and the cluster fee."
    )
    none = bool(snapshot.nodes) and not prices.cost_of(snapshot.nodes)
    return (*(() if none else (line,)), *_estimate_notes(snapshot, prices))


@dataclass(frozen=True, slots=True)
class PricedNodes:
    """How the nodes of a cluster are priced: by region its share of the table's own, and whether some are spot."""

    regions: Mapping[str, Fraction | None]
    """None where the table does not know the region: priced as if it were its own."""
    spot: bool


def priced_nodes(snapshot: Snapshot, prices: Prices) -> PricedNodes:
    own = {prices.basis.region: Fraction(1)} if prices.basis.region else {}
    known = {**own, **prices.regions}
    regions = {name: known.get(name) for name in sorted({node.region for node in snapshot.nodes})}
    return PricedNodes(regions, any(node.spot for node in snapshot.nodes))


def _attached(prices: Prices) -> str:
    """Show what attached to machines is priced; an own table may have no such rates."""
    rates = (("GPUs", bool(prices.gpus)), ("local SSDs", prices.local_ssd != Attached()))
    priced, free = ([name for name, known in rates if known is wanted] for wanted in (True, False))
    return f"{' and '.join(priced) or 'machines'}, but not {', '.join((*free, 'disks'))}"


def _regions(snapshot: Snapshot, prices: Prices) -> str:
    """Name which regions are priced by their share of the table's own, and which as if they were that one."""
    listed = prices.basis.region or "listed"
    regions = sorted({node.region for node in snapshot.nodes})
    known = [f"{name} ({float(prices.regions[name]):g} of {listed})" for name in regions if name in prices.regions]
    known += [name for name in regions if name == listed and name not in prices.regions]
    unknown = [name or "nodes without a region" for name in regions if name not in {*prices.regions, listed}]
    return " and ".join((*known, *([f"{some(unknown)} as if {listed}"] if unknown else ())))


def _off(prices: Prices) -> str:
    if not prices.discounts:
        return "no discount"
    rows = (f"{name or 'all'} {float(share * 100):g}%" for name, share in sorted(prices.discounts.items()))
    return f"less {', '.join(rows)} (spot aside)"


def _estimate_notes(snapshot: Snapshot, prices: Prices) -> Iterator[str]:
    found = {node.machine: price for node in snapshot.nodes if (price := prices.of(node)).estimated}
    for sentence, is_priced in ((ESTIMATED, True), (UNPRICED, False)):
        machines = sorted(
            name or "unknown machines" for name, price in found.items() if bool(price.per_hour) is is_priced
        )
        if machines:
            yield sentence.format(machines=some(machines))
