from collections.abc import Sequence
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.prices import load
from shared.core.cluster import names
from shared.core.cluster.node import Node
from shared.core.placement.search import LITTLE
from shared.core.planning.bill import Bill, ends, unpriced_families
from shared.core.policy.values import Capacity, Commitment, Commitments, FlexibleCommitment
from shared.core.records.state import MICRO
from tests.builders import COMMITTED_UNTIL, NOW, committed, node
from tests.depth import cases

PRICES = load()
SPOT = {names.SPOT_LABELS[0]: "true"}
MACHINES = ("n2-standard-8", "n2-highmem-4", "n2-custom-4-8192", "e2-standard-4", "e2-medium", "g2-standard-4", "what")


def machines(*kinds: str, **changes: Any) -> list[Node]:
    return [node(f"n{number}", machine=kind, **changes) for number, kind in enumerate(kinds)]


def bill(nodes: Sequence[Node], commitments: Commitments) -> Bill:
    return Bill.of(PRICES, commitments, nodes, NOW)


@cases(
    "saved, kinds, gone, commitments",
    ("nothing is committed: its price", 1, ["n2-standard-8"] * 3, 1, Commitments()),
    ("all is committed: nothing", 0, ["n2-standard-8"] * 3, 1, committed()),
    ("one of two exceeds the commitment: one", 1, ["n2-standard-8"] * 11, 2, committed()),
    ("two exceed it: no more than two", 2, ["n2-standard-8"] * 12, 3, committed(elsewhere={})),
    ("others use one machine's worth: three exceed what is left", 3, ["n2-standard-8"] * 12, 3,
     committed(elsewhere={"n2": Capacity(Fraction(8), Fraction(32))})),
    ("another family is committed: its price", 1, ["e2-standard-4"] * 3, 1, committed()),
    ("a family without a price is committed: its price", 1, ["e2-standard-4"] * 3, 1, committed("m3")),
    ("what is committed of another covers none of its own: one of two", 1, ["n2-standard-8"] * 2, 1,
     Commitments((*committed(vcpu=8, gib=32).families, *committed("e2").families))),
    ("a flexible commitment covers any family: nothing", 0, ["n2-standard-8"], 1,
     Commitments(flexible=FlexibleCommitment(Fraction(10), Fraction("0.28"), COMMITTED_UNTIL))),
)  # fmt: skip
def test_the_bill_falls_by_what_exceeds_the_commitments(
    saved: int, kinds: list[str], gone: int, commitments: Commitments
) -> None:
    nodes = machines(*kinds)
    price = PRICES.of(nodes[0]).per_hour
    assert bill(nodes, commitments).saving(nodes, nodes[:gone]) == pytest.approx(saved * price, abs=LITTLE)


@pytest.mark.parametrize("spot", [False, True])
def test_a_commitment_covers_no_spot_machine(spot: bool) -> None:
    nodes = machines("n2-standard-8", labels=SPOT if spot else {})
    assert bool(bill(nodes, committed()).saving(nodes, nodes) > LITTLE) is spot


def test_a_commitment_covers_no_disk_of_a_machine() -> None:
    nodes = machines("n2-standard-8", labels={names.EPHEMERAL_SSD_LABEL: "true"})
    disk = PRICES.cost_of(nodes) - PRICES.cost_of(machines("n2-standard-8"))
    assert bill(nodes, committed()).saving(nodes, nodes) == pytest.approx(disk, abs=LITTLE)


def test_what_has_ended_is_not_in_the_bill() -> None:
    nodes = machines("n2-standard-8")
    over = Bill.of(PRICES, committed(), nodes, COMMITTED_UNTIL)
    assert over.is_list
    assert over.cost_of(nodes) == PRICES.cost_of(nodes)
    assert ends(committed(), NOW) == (COMMITTED_UNTIL,)
    assert ends(committed(), COMMITTED_UNTIL) == ()
    later = [NOW + timedelta(days=day) for day in (5, 1, 4, 2, 3)]
    rows = (Commitment("n2", Capacity(), until) for until in later)
    assert ends(Commitments(tuple(rows)), NOW) == tuple(sorted(later)), "the earliest first"


def test_each_family_uses_its_own_commitment() -> None:
    nodes = machines("n2-standard-8", "e2-standard-4")
    rows = (
        Commitment("n2", Capacity(Fraction(99), Fraction(20))),
        Commitment("e2", Capacity(Fraction(9), Fraction(99))),
    )
    used = {use.commitment.family: use.used for use in bill(nodes, Commitments(rows)).uses(nodes)}
    assert used == {"n2": Capacity(Fraction(8), Fraction(20)), "e2": Capacity(Fraction(4), Fraction(16))}


def test_what_exceeds_the_commitments_is_no_less_than_each_axis_in_part() -> None:
    flexible = FlexibleCommitment(Fraction(1, 10), Fraction("0.28"), COMMITTED_UNTIL)
    nodes = machines("n2-standard-8", "n2-standard-8", "e2-standard-4")
    found = bill(nodes, Commitments(committed(vcpu=4, gib=99).families, flexible=flexible))
    amounts = found.total(nodes)
    exceeds = amounts[0] - found.covered(amounts)
    assert exceeds > 0
    for weights in ((1, 0, 1), (1, 1, 1), (0.5, 0, 0.5)):
        linear = found.weigh_axes(weights)
        part = sum(rate * amount for rate, amount in zip(linear.rates, amounts[1:], strict=True)) - linear.covered
        assert part <= exceeds + LITTLE
    assert part > 0


def test_what_ends_last_is_used_first() -> None:
    sooner = Commitment("n2", Capacity(Fraction(8), Fraction(32)), NOW + timedelta(days=1), Fraction(1, 2))
    rows = Commitments((sooner, Commitment("n2", Capacity(Fraction(8), Fraction(32)), COMMITTED_UNTIL)))
    nodes = machines("n2-standard-8")
    late, soon = bill(nodes, rows).uses(nodes)
    price = PRICES.of(nodes[0]).per_hour
    assert [late.used.vcpu, soon.used.vcpu] == [8, 0]
    assert (late.idle, soon.idle) == (0, soon.fee)
    assert [late.fee, soon.fee] == pytest.approx([price, price / 2], abs=1)


def test_fees_are_paid_whatever_runs() -> None:
    mine = bill(machines("n2-standard-8"), committed())
    assert mine.cost_of([]) == mine.fees == round(PRICES.rates("n2", "").of(Fraction(80), Fraction(320)) * MICRO)


@cases(
    "idle, kind, labels",
    ("a machine of the table: what exceeds its use", 10 * MICRO - 279_700, "n2-standard-8", {}),
    ("a machine that is not in it: nothing is known", 0, "what-standard-8", {}),
    ("a spot machine that is not in it: it is not covered", 10 * MICRO, "what-standard-8", SPOT),
)
def test_a_flexible_commitment_is_idle_only_where_its_use_is_known(
    idle: int, kind: str, labels: dict[str, str]
) -> None:
    nodes = machines(kind, labels=labels)
    mine = bill(nodes, Commitments(flexible=FlexibleCommitment(Fraction(10), Fraction("0.28"))))
    assert mine.flexible_idle(nodes) == pytest.approx(idle, abs=1_000 if idle else 0)


KINDS = st.lists(st.sampled_from(MACHINES), min_size=1, max_size=12)
SIZES = st.integers(0, 100)


@st.composite
def commitments_(draw: st.DrawFn) -> Commitments:
    families = draw(st.sets(st.sampled_from(("n2", "e2"))))
    flexible = draw(st.none() | st.builds(FlexibleCommitment, st.fractions(0, 3), st.just(Fraction("0.28"))))
    rows = tuple(Commitment(name, Capacity(Fraction(draw(SIZES)), Fraction(draw(SIZES)))) for name in sorted(families))
    return Commitments(rows, flexible)


@given(KINDS, commitments_(), st.data())
def test_a_removal_saves_at_most_the_prices_and_no_less_than_nothing(
    kinds: list[str], commitments: Commitments, data: st.DataObject
) -> None:
    nodes = machines(*kinds)
    mine = bill(nodes, commitments)
    gone = data.draw(st.lists(st.sampled_from(nodes), unique_by=lambda any_node: any_node.name))
    left = [any_node for any_node in nodes if any_node not in gone]
    saved = mine.saving(nodes, gone)
    assert -LITTLE <= saved <= PRICES.cost_of(gone) + LITTLE
    assert saved == mine.cost_of(nodes) - mine.cost_of(left)


@given(KINDS, commitments_(), st.data())
def test_each_further_node_saves_no_more_than_it_would_alone(
    kinds: list[str], commitments: Commitments, data: st.DataObject
) -> None:
    nodes = machines(*kinds)
    mine = bill(nodes, commitments)
    gone = data.draw(st.lists(st.sampled_from(nodes), unique_by=lambda any_node: any_node.name, min_size=1))
    together = mine.saving(nodes, gone) - mine.saving(nodes, gone[1:])
    assert together <= mine.saving(nodes, gone[:1]) + LITTLE


@given(KINDS)
def test_without_commitments_the_bill_is_the_sum_of_prices(kinds: list[str]) -> None:
    nodes = machines(*kinds)
    mine = bill(nodes, Commitments())
    assert mine.is_list
    assert (mine.cost_of(nodes), list(mine.uses(nodes)), mine.fees) == (PRICES.cost_of(nodes), [], 0)
    assert mine.saving(nodes, nodes[:1]) == PRICES.cost_of(nodes[:1])


@cases(
    "expected, committed",
    ("a family with a price", "", Commitments((Commitment("n2", Capacity()),))),
    ("a family without a price", "m3", Commitments((Commitment("m3", Capacity()),))),
    ("a typing error in what others use", "N2", Commitments(elsewhere={"N2": Capacity()})),
)
def test_a_committed_family_without_a_price_is_named(expected: str, committed: Commitments) -> None:
    told = unpriced_families(committed, PRICES)
    assert (bool(told), told.startswith(f"Commitments of {expected} ")) == (bool(expected), bool(expected))
