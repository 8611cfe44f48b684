import json
from pathlib import Path
from typing import Any

from shared.core.policy_document import schema

WRITTEN = Path(__file__).parents[2] / "infra" / "policy.schema.json"
AGAIN = """python -c 'import json; from shared.core.policy_document import schema;
print(json.dumps(schema(), indent=2, ensure_ascii=False))' > infra/policy.schema.json"""


def test_the_schema_beside_the_infrastructure_is_current() -> None:
    assert json.loads(WRITTEN.read_text(encoding="utf-8")) == schema(), f"write it again: {AGAIN}"


def properties() -> list[tuple[str, dict[str, Any]]]:
    sections = {"policy": schema(), **schema()["$defs"]}
    return [(f"{name}.{field}", row) for name, part in sections.items() for field, row in part["properties"].items()]


def test_every_field_is_described() -> None:
    assert [name for name, row in properties() if not row.get("description")] == []


def test_every_optional_field_says_its_default() -> None:
    required = {f"{name}.{field}" for name, part in schema()["$defs"].items() for field in part.get("required", [])}
    silent = [name for name, row in properties() if name not in required and "default" not in row]
    assert silent == []


def test_no_section_takes_unknown_fields() -> None:
    assert all(part["additionalProperties"] is False for part in (schema(), *schema()["$defs"].values()))


def test_no_default_is_claimed_for_a_budgets_schedule_and_duration() -> None:
    budget = schema()["$defs"]["BudgetSection"]["properties"]
    assert (budget["schedule"]["default"], budget["duration"]["default"]) == (None, None)
