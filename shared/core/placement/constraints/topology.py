"""The domains of a topology key: nodes with equal values of one label.

Must not know which pods lie where, nor what a rule asks of a domain.
"""

from collections.abc import Collection

import numpy as np

from shared.core.placement.constraints.domain_counts import NOWHERE
from shared.core.placement.node_filters import Codes, NodeFilters, NodeMask


class TopologyDomains:
    """Each node's domain under one key, by number."""

    def __init__(self, node_filters: NodeFilters, key: str) -> None:
        column = node_filters.label(key)
        absent = column.values.index(None) if None in column.values else NOWHERE
        self._codes: Codes = np.where(column.codes == absent, NOWHERE, column.codes)
        self._size = int(self._codes.max(initial=NOWHERE)) + 1
        self.of: list[int] = self._codes.tolist()
        """By node."""

    def nodes_in(self, domains: Collection[int]) -> NodeMask:
        """Return the nodes that lie in one of the domains."""
        # one more place than domains: NOWHERE, which is the last index, falls on it
        chosen = np.zeros(self._size + 1, np.bool_)
        chosen[list(domains)] = True
        chosen[NOWHERE] = False
        return chosen[self._codes]

    def keyed(self) -> NodeMask:
        """Return the nodes that lie in any domain."""
        keyed: NodeMask = self._codes != NOWHERE
        return keyed
