"""From the configuration of another consolidator to a policy: bytes in, a commented document and notes out.

Each value of the document says where it came from; what has no equivalent is said in a note, never dropped silently.
Must not do I/O, and must not return a document that `parse` would refuse.
"""

from shared.core.policy_document.importing.estafette import from_estafette
from shared.core.policy_document.importing.karpenter import from_karpenter
from shared.core.policy_document.importing.node_refiner import from_node_refiner
from shared.core.policy_document.importing.writing import Imported

__all__ = ["Imported", "from_estafette", "from_karpenter", "from_node_refiner"]
