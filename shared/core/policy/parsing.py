"""The policy document: YAML or JSON in, the policy in force out, or every fault at once.

An estafette configuration is a policy as it stands and a Karpenter `disruption` block drops in unchanged
(docs/decisions/predecessors.md). Must not apply half of a document: one fault refuses the whole of it
(docs/acceptance.md row 8).
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from shared.core.policy.cluster_fields import Policy
from shared.core.policy.document import DOCUMENT
from shared.core.policy.effective import effective
from shared.core.policy.faults import Fault, Wrong
from shared.core.policy.misplaced import another_kind, remedy_for
from shared.core.policy.reading import read
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
        return effective(DOCUMENT.read(written, ()), written)
    except Wrong as wrong:
        raise BadPolicy(*_sentences(wrong.faults)) from wrong


def _sentences(faults: Iterable[Fault]) -> Iterator[str]:
    """Yield what is wrong; of a field that belongs elsewhere, where, and of one that was cut, what holds instead."""
    for fault in faults:
        remedy = remedy_for(fault.path) if fault.unknown else ""
        yield str(replace(fault, remedy=remedy) if remedy else fault)
