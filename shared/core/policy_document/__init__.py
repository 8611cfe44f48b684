"""The policy document: YAML or JSON in, the policy in force out, or every fault at once.

An estafette configuration is a policy as it stands and a Karpenter `disruption` block drops in unchanged (design §9).
Must not do I/O, and must not apply half of a document: one fault refuses the whole of it (acceptance row 8).
"""

from functools import cache
from typing import Any

from pydantic import ValidationError

from shared.core.policy import Policy
from shared.core.policy_document.advice import warnings
from shared.core.policy_document.as_written import as_written
from shared.core.policy_document.effective import effective
from shared.core.policy_document.faults import sentences
from shared.core.policy_document.misplaced import another_kind
from shared.core.policy_document.models import PolicySection
from shared.core.policy_document.reading import read
from shared.errors import BadPolicy

__all__ = ["as_written", "parse", "schema", "warnings"]


def parse(data: bytes) -> Policy:
    """Read a policy document.

    Args:
        data: YAML or JSON, UTF-8, at most 256 KiB.

    Raises:
        BadPolicy: with every fault, each a sentence with path, value and remedy.
    """
    written = read(data)
    if sentence := another_kind(written):
        raise BadPolicy(sentence)
    try:
        section = PolicySection.model_validate(written)
    except ValidationError as error:
        raise BadPolicy(*sentences(error, schema())) from error
    return effective(section, written)


@cache
def schema() -> dict[str, Any]:
    """Return the JSON Schema of the document, for editors and for `infra/policy.schema.json`."""
    body = PolicySection.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **body, "title": "Ebb policy"}
