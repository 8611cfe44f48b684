import json
import re
from pathlib import Path
from typing import Any

import pytest

from functions.cli.policy.schema import schema
from shared.core.reasons import Unremovable
from shared.core.rules.gates import CLAIM_GATES, PASS_GATES
from tests.docs.policy_page import gates, table

WRITTEN = Path(__file__).parents[3] / "infra" / "policy.schema.json"


def test_the_schema_next_to_the_infrastructure_is_current() -> None:
    assert json.loads(WRITTEN.read_text(encoding="utf-8")) == schema(), "run `make schema`"


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param("| `cluster.minimumNodes` | whole number from 0 |", id="a number of the cluster"),
        pytest.param("| `cluster.freezes[].from` | text |", id="a field of a list"),
        pytest.param("| `nodePools.NAME.disruption.expireAfter` | duration or `Never` |", id="a field of any pool"),
        pytest.param("| `nodePools.NAME.headroom` | percentage |", id="a percentage"),
        pytest.param("| `nodePools.NAME.rate.per` | duration in minutes or more |", id="a period"),
        pytest.param("| 60m (node-refiner): demand grows |", id="a default with its reason"),
    ],
)
def test_the_page_has_a_row_for(expected: str) -> None:
    assert expected in table(schema())


def test_the_page_names_every_gate_in_the_order_in_which_it_is_asked() -> None:
    words = {each.value for each in Unremovable}
    named = re.findall(r"^\| \d+ \| `(\w+)`", gates(), re.MULTILINE)
    assert len(named) == len(CLAIM_GATES) + len(PASS_GATES)
    assert set(named) <= words
    assert len(set(named)) == len(named)


def properties() -> list[tuple[str, dict[str, Any]]]:
    sections = {"policy": schema(), **schema()["$defs"]}
    return [(f"{name}.{field}", row) for name, part in sections.items() for field, row in part["properties"].items()]


def test_every_field_is_described() -> None:
    assert [name for name, row in properties() if not row.get("description")] == []


def test_every_optional_field_shows_its_default() -> None:
    required = {f"{name}.{field}" for name, part in schema()["$defs"].items() for field in part.get("required", [])}
    silent = [name for name, row in properties() if name not in required and "default" not in row]
    assert silent == []


def test_no_section_takes_unknown_fields() -> None:
    assert all(part["additionalProperties"] is False for part in (schema(), *schema()["$defs"].values()))


def test_no_default_is_claimed_for_a_budgets_schedule_and_duration() -> None:
    budget = schema()["$defs"]["BudgetSection"]["properties"]
    assert (budget["schedule"]["default"], budget["duration"]["default"]) == (None, None)
