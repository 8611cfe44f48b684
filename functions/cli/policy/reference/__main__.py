"""Writes the policy's JSON Schema from its fields, for editors and Terraform.

Used by `make schema`; a test holds `infra/policy.schema.json` to what this prints.
"""

import json
import sys

from functions.cli.policy.reference.page import schema


def document() -> str:
    """Return the schema as a file."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(document())
