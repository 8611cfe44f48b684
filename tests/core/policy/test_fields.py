import json
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from shared.core.policy import DrainSettings, PodRules, Policy, PoolPolicy
from shared.core.policy.cluster_fields import CLUSTER_FIELDS, DRAIN_FIELDS, WATCHDOGS
from shared.core.policy.field import REQUIRED, Field
from shared.core.policy.fields import POOL_FIELDS
from shared.core.policy.parsing import DOCUMENT, places
from shared.core.reasons import Unremovable
from shared.core.rules.gates import CLAIM_GATES, PASS_GATES
from tests.docs.policy_page import gates
from tests.docs.policy_schema import schema
from tests.pages import DOCS

ALL: Mapping[str, Field] = {
    **{f"pool {name}": field for name, field in POOL_FIELDS.items()},
    **{f"drain {name}": field for name, field in DRAIN_FIELDS.items()},
    **CLUSTER_FIELDS,
}
NO_SETTINGS = {"hash", "drain", "watchdog_by_profile", "pools", "other_pools", "defaults_enable"}
"""What names the policy, what holds settings, and whose default a setting is."""
IN_OTHER_WORDS = {
    "scaleDownCPURequestRatioLimit": "both ratio limits",
    "scaleDownMemoryRequestRatioLimit": "both ratio limits",
    "disruption.consolidationPolicy": "`WhenEmpty`",
    "disruption.expireAfter": "expired nodes",
}
"""By field: how the page on precedence names it, where not by its name."""


def test_every_attribute_of_a_pool_is_declared() -> None:
    assert [*POOL_FIELDS, "written"] == [field.name for field in fields(PoolPolicy)]


def test_every_attribute_of_the_policy_is_declared_or_no_setting() -> None:
    assert {field.name for field in fields(Policy)} == {*CLUSTER_FIELDS, *NO_SETTINGS}


def test_what_a_claim_keeps_of_a_drain_is_declared_in_the_order_in_which_it_is_stored() -> None:
    assert tuple(DRAIN_FIELDS) == DrainSettings.__struct_fields__
    assert {name: getattr(DrainSettings(), name) for name in DRAIN_FIELDS} == {
        name: WATCHDOGS["BALANCED"] if name == "watchdog" else field.initial() for name, field in DRAIN_FIELDS.items()
    }


def test_a_running_drain_keeps_settings_of_its_pool() -> None:
    assert set(PodRules.__struct_fields__) <= POOL_FIELDS.keys()


@pytest.mark.parametrize("field", [pytest.param(field, id=name) for name, field in ALL.items()])
def test_a_sentence_shows_its_default_by_the_declaration(field: Field) -> None:
    named = re.search("default", field.text.replace("{default", ""), re.IGNORECASE)
    assert ("{default" in field.text) == bool(named and field.default not in (None, [], {}))


def test_the_document_holds_every_field_and_no_other() -> None:
    paths = [".".join(path) for path in places()]
    pool = [f"nodePools.NAME.{field.path}" for field in POOL_FIELDS.values()]
    other = [field.path for field in (*CLUSTER_FIELDS.values(), *DRAIN_FIELDS.values())]
    assert len(paths) == len(set(paths))
    assert {*pool, *other} <= set(paths)
    assert all(field.default is not REQUIRED for field in (*ALL.values(), *DOCUMENT.fields))


@pytest.mark.parametrize(
    "field", [pytest.param(field, id=name) for name, field in ALL.items() if not name.startswith("drain ")]
)
def test_the_page_shows_who_asks_a_setting(field: Field) -> None:
    names = (f"`{field.name}", f"`{field.path}", IN_OTHER_WORDS.get(field.path, f"`{field.path}"))
    _, _, section = (DOCS / "policy.md").read_text(encoding="utf-8").partition("## Which setting decides")
    assert any(name in section for name in names), "name it where docs/policy.md says which setting decides"


WRITTEN = Path(__file__).parents[3] / "infra" / "policy.schema.json"


def test_the_schema_next_to_the_infrastructure_is_current() -> None:
    assert json.loads(WRITTEN.read_text(encoding="utf-8")) == schema(), "run `make schema`"


def test_the_page_names_every_gate_in_the_order_in_which_it_is_asked() -> None:
    words = {reason.value for reason in Unremovable}
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
