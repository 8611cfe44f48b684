"""What every test asked of the Kubernetes API in the name of Ebb, by who asked: planner, drainer, or just Ebb.

Requests over a socket are overheard where they leave the process, by Python's own audit event, so that nothing is
patched and no adapter can forget to tell; a simulator without sockets tells by itself.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping

from tests.rights.rbac import Right, is_discovery, right_of

PLANNER, DRAINER, ANYONE = "planner", "drainer", "anyone"
_REQUEST = re.compile(rb"([A-Z]+) (\S+) HTTP/1\.1\r\n")
_OURS = b"\r\nUser-Agent: ebb\r\n"


class UsedRights:
    """Rights that were used, by identity."""

    def __init__(self) -> None:
        self.used: dict[str, set[Right]] = defaultdict(set)

    def note(self, identity: str, method: str, path: str) -> None:
        if not is_discovery(path):
            self.used[identity].add(right_of(method, path))

    def overhear(self, sent: object) -> None:
        """Take what an HTTP connection sends; what is no request of Ebb's is left alone."""
        if isinstance(sent, bytes) and _OURS in sent and (request := _REQUEST.match(sent)):
            self.note(ANYONE, request[1].decode(), request[2].decode())

    def take(self, other: Mapping[str, Iterable[str]]) -> None:
        """Add what another process wrote down."""
        for identity, rights in other.items():
            self.used[identity].update(map(Right.parse, rights))

    def written(self) -> dict[str, list[str]]:
        return {identity: sorted(map(str, rights)) for identity, rights in self.used.items()}


USED_RIGHTS = UsedRights()
"""This process's own."""


def listen() -> None:
    """Begin to overhear. Python has no way to end it, which is why this is done once a process."""
    sys.addaudithook(_hear)


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if event == "http.client.send":
        USED_RIGHTS.overhear(arguments[1])
