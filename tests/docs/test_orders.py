"""docs/orders.md explains every field of what Ebb sends and prints for tools, and no other."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import msgspec

from functions.cli.analysis.blocked import BlockedBy, BlockedNodes
from functions.cli.analysis.forecast.scenarios import LaterAddition
from functions.cli.drains import status_table
from functions.cli.input.pricing import PricedNodes
from functions.cli.plan.as_json import document
from functions.cli.plan.view import view_of, with_scenarios
from functions.cli.policy import diff
from functions.cli.policy.diff import DrainsCompared, Impact, PolicyChange, PolicyDiff, RealDrains
from functions.planner.commitments import UsedCommitments
from functions.planner.pass_log import PassReport, summary
from functions.planner.read_and_repair import PassInputs
from functions.planner.steer import Steered
from shared.adapters.prices import load
from shared.core.placement.packing import Move
from shared.core.planning.plan import AtRest, Plan, Potential
from shared.core.records.orders import DrainResult, Order
from shared.core.records.state import INTERVAL, ClusterState
from shared.ports import Traffic
from tests.builders import NOW, cluster
from tests.cli.drains.test_status import rich_in_everything
from tests.cli.explain.explained import everything_explained
from tests.cli.plan.plans import ENDS, billed, blocked, busy, order, ordered, plan, some_committed, some_scenarios
from tests.cli.plan.test_as_json import REAPED
from tests.pages import DOCS, rows, section

PAGE = DOCS / "orders.md"
IS_OF: dict[str, Callable[[Any], bool]] = {
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "text": lambda value: isinstance(value, str),
    "time": lambda value: bool(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", str(value))),
    "true or false": lambda value: isinstance(value, bool),
    "list": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def table(title: str, head: str) -> dict[str, str]:
    found = {cells[0].strip("`"): cells[1] for cells in rows(section(PAGE, title), head)}
    assert all(found.values())
    return found


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield f"{path}.{key}".lstrip("."), each
            yield from leaves(each, f"{path}.{key}")
    if isinstance(value, list):
        for each in value:
            yield from leaves(each, f"{path}[]")


def holds(types: dict[str, str], document: dict[str, Any]) -> None:
    found = list(leaves(document))
    assert {key for key, _ in found} == types.keys()
    for key, value in found:
        word, null, _ = types[key].partition(" or null")
        assert IS_OF[word](value) or (null and value is None), (key, value)


def shown_plan() -> Plan:
    orders = [order("n1", ("shop/web-0", "n2"))]
    return replace(
        plan(ordered("n1"), blocked("n2", "shop/cart-0"), orders=orders), at_rest=AtRest(("n1",), 1, 9, braked=False)
    )


def test_every_field_of_an_order() -> None:
    assert list(table("## Order", "| field | type | default | meaning |")) == list(Order.__struct_fields__)


def test_the_defaults_of_an_order() -> None:
    table_rows = rows(section(PAGE, "## Order"), "| field | type | default | meaning |")
    told = {cells[0].strip("`"): cells[2] for cells in table_rows}
    written = {
        field.name: field.default
        for field in msgspec.structs.fields(Order)
        if field.default is not msgspec.NODEFAULT and field.name != "node_uid"
    }
    words = {"": "empty", (): "empty", None: "null", False: "false"}

    assert {name: told[name].strip("`") for name in written} == {
        name: words.get(value, str(value)) for name, value in written.items()
    } | {"generation": "0"}


def test_every_key_of_a_result() -> None:
    assert list(table("## Result", "| result | type | meaning |")) == list(DrainResult.__struct_fields__)


PRICED = PricedNodes({"europe-west4": Fraction(11, 10)}, spot=True)


def test_every_key_of_the_plan() -> None:
    potential = Potential(("n1",), 1, (Move("shop/web-0", "n2"),))

    prices = replace(load(), discounts={"": Fraction(1, 4)})
    shown = replace(with_scenarios(view_of(shown_plan(), potential), billed()), prices=prices, priced=PRICED)
    later = LaterAddition(ENDS, ("n2",), 6, 1, is_rest=True)
    shown = replace(shown, autoscaler={"a": REAPED}, committed=some_committed(later=(later,)))
    shown = replace(shown, blocked=BlockedBy("team", (BlockedNodes("shop", "local_storage", "Set it.", 2, 1, 1),)))

    holds(table("## Plan", "| key | type | unit | meaning |"), document(shown))


def test_every_key_of_what_is_explained() -> None:
    in_plan = table("## Plan", "| key | type | unit | meaning |")
    of_node = {key.replace("nodes[]", "explained[]", 1): kind for key, kind in in_plan.items() if "nodes[]." in key}

    holds({**of_node, **table("## Explained", "| key | type | unit | meaning |")}, everything_explained())


def test_every_key_of_a_policy_diff() -> None:
    in_plan = table("## Plan", "| key | type | unit | meaning |")
    ladder = {key.removeprefix("ladder[]"): kind for key, kind in in_plan.items() if key.startswith("ladder[].")}
    of_both = {f"ladder.{when}[]{key}": kind for when in ("before", "after") for key, kind in ladder.items()}
    drains = DrainsCompared(RealDrains("dryRun is true"), RealDrains(begins={"n1": NOW}), NOW)
    impact = Impact(plan(busy("n1")), plan(ordered("n1")), (some_scenarios(), some_scenarios()), ())
    found = PolicyDiff((PolicyChange("cluster", "dryRun", "true", "false"),), drains, impact)

    own = table("## Policy diff", "| key | type | unit | meaning |")
    holds({**own, **of_both}, diff.document(found))
    unknown = diff.document(PolicyDiff((), DrainsCompared(RealDrains(), RealDrains(begins=None))))
    assert unknown.keys() == diff.document(found).keys()


def test_every_key_of_the_status() -> None:
    document = status_table.document(rich_in_everything())

    holds(table("## Status", "| key | type | unit | meaning |"), document)


def test_every_key_of_the_summary() -> None:
    about = plan(ordered("n1")), PassInputs(cluster([]), ClusterState(), {}, None, NOW), load(), INTERVAL, "run"
    said = summary(PassReport(*about, (), 0, 0, 1.0, Traffic(), Steered(), UsedCommitments(), 0))

    assert set(table("## Summary", "| summary | type | unit | meaning |")) == said.keys()
