"""From the configuration of another consolidator to a policy: bytes in, a commented document and notes out.

Each value has a comment on its origin, and what has no equivalent a note. `parse` takes every document.
"""

from functions.cli.policy.importing.estafette import from_estafette
from functions.cli.policy.importing.karpenter import from_karpenter
from functions.cli.policy.importing.node_refiner import from_node_refiner
from functions.cli.policy.importing.writing import Imported

__all__ = ["Imported", "from_estafette", "from_karpenter", "from_node_refiner"]
