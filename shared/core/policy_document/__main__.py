"""Writes what people and editors read of the policy's types: the JSON Schema, or with `page` the documentation.

Used by `make schema`; a test holds both files in `infra/` to what this prints. Nothing else is printed by the core.
"""

import json
import sys

from shared.core.policy_document.documentation import table
from shared.core.policy_document.precedence import precedence
from shared.core.policy_document.schema import schema

_PAGE = """\
# The policy

YAML or JSON. `ebb policy check FILE` names every fault, `ebb policy windows FILE` draws when how many nodes may go, and
`ebb policy diff OLD NEW` says what a change would change. This page is written by `make schema`.

A duration is written as in Go, with days: `90s`, `8m30s`, `1h30m`, `30d`. A share is a decimal (`0.75`), a
percentage has its sign (`10%`). Unknown fields are faults; a field whose value is `null` counts as left out.

## Fields

A pool takes the fields of `nodePools.NAME`; `defaults` takes them for all pools that do not write them.

{table}
## Who has the word

{precedence}"""


def document(kind: str) -> str:
    """Return the file of that kind, `schema` or `page`."""
    if kind == "page":
        return _PAGE.format(table=table(schema()), precedence=precedence())
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(document(sys.argv[1] if len(sys.argv) > 1 else "schema"))
