"""A release is carried out, and a node that a person took back is left alone (docs/decisions/healing.md)."""

from collections.abc import Iterator

from tests.faults.excuses import Excuse, Excuses
from tests.faults.people import AGENT as PERSON
from tests.faults.replay import Entry, ReplayedCluster, holder, is_deleting, is_ebb


class PeoplesRequests:
    def __init__(self, excuses: Excuses) -> None:
        self._excuses = excuses
        self._taken_back: set[str] = set()
        self._forgotten: set[str] = set()
        """Of these, the nodes taken back before the state was lost."""
        self._tried: set[str] = set()
        """Nodes that the autoscaler has begun to delete since Ebb took them."""
        self._released: dict[str, str] = {}

    def of(self, entry: Entry, cluster: ReplayedCluster) -> Iterator[str]:
        if entry["type"] == "act":
            self._act(entry)
        elif entry["type"] == "change" and entry["kind"] == "nodes" and entry["verb"] != "delete":
            before = cluster.before_change(entry)
            if before is not None and holder(before):
                self._held(entry, before)
            elif is_ebb(entry["actor"]) and holder(entry) and self._is_wanted(entry["uid"]):
                yield f"{entry['actor']} took {entry['name']} though a person had taken it back"

    def not_granted(self, held: set[str]) -> Iterator[str]:
        """Judge the end: `held` are the orders that still hold a claim."""
        for order_id, name in self._released.items():
            if order_id in held:
                yield f"{name} was to be released, and order {order_id} holds it still"

    def _is_wanted(self, uid: str) -> bool:
        """Whether a person took the node back, and Ebb can still know it."""
        return uid in self._taken_back and not self._excuses.covers(Excuse.FORGOTTEN, uid in self._forgotten)

    def _held(self, entry: Entry, before: Entry) -> None:
        """See what becomes of a node that Ebb holds; what a person does and changes nothing tells nobody."""
        uid = entry["uid"]
        if is_deleting(entry):
            self._tried.add(uid)
        if entry["actor"] == PERSON and (not holder(entry) or self._is_uncordoned(entry, before)):
            self._taken_back.add(uid)
        if not holder(entry):
            self._tried.discard(uid)

    def _is_uncordoned(self, entry: Entry, before: Entry) -> bool:
        if entry["unschedulable"] or not before["unschedulable"]:
            return False
        return not self._excuses.covers(Excuse.AUTOSCALER_TRIED, entry["uid"] in self._tried)

    def _act(self, entry: Entry) -> None:
        if entry["act"] == "lose the state":
            self._forgotten |= self._taken_back
        if entry["act"] == "release" and entry["order"]:
            self._released[entry["order"]] = entry["node"]
