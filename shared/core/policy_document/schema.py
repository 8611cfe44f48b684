"""The JSON Schema of the policy document, for editors and for `infra/policy.schema.json`."""

from functools import cache
from typing import Any

from shared.core.policy_document.models import PolicySection


@cache
def schema() -> dict[str, Any]:
    """Return the schema."""
    body = PolicySection.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **body, "title": "Ebb policy"}
