"""The policy document: YAML or JSON in, the policy in force out, or every fault at once.

An estafette configuration is a policy as it stands and a Karpenter `disruption` block drops in unchanged (design §9).
Must not apply half of a document: one fault refuses the whole of it (acceptance row 8).
"""

from pydantic import ValidationError

from shared.core.policy import Policy
from shared.core.policy_document.effective import effective
from shared.core.policy_document.faults import sentences
from shared.core.policy_document.misplaced import another_kind
from shared.core.policy_document.models import PolicySection
from shared.core.policy_document.reading import read
from shared.core.policy_document.schema import schema
from shared.errors import BadPolicy


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
