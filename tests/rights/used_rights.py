"""The rights that runs use, collected from their calls, and compared with those that are granted."""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping

from tests.rights.rbac import FILE, OPTIONS, Right, filled, granted, is_discovery, right_of

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


Rights = Mapping[str, set[Right] | frozenset[Right]]
OF_PEOPLE = frozenset(
    {
        Right("create", "authorization.k8s.io", "selfsubjectaccessreviews"),
        Right("get", "admissionregistration.k8s.io", "validatingadmissionpolicies"),
        Right("get", "admissionregistration.k8s.io", "validatingadmissionpolicybindings"),
        Right("get", "rbac.authorization.k8s.io", "clusterroles"),
        Right("get", "rbac.authorization.k8s.io", "clusterrolebindings"),
    }
)
"""What only a person asks for, with rights of his own: `ebb doctor`."""
_FILE = f"{FILE.parent.name}/{FILE.name}"


def lacking(used: Rights, grants: Rights) -> list[str]:
    """Say what was used and is not granted; whoever is not named may have been either function."""
    anyone = OF_PEOPLE.union(*grants.values())
    allowed = {**grants, ANYONE: anyone}
    return [
        f"{identity} used `{right}`, which {_FILE} does not grant"
        for identity, rights in sorted(used.items())
        for right in sorted(set(rights) - allowed[identity])
    ]


def idle(used: Rights, grants: Rights, file: str = _FILE) -> list[str]:
    """Say what is granted and was never used."""
    return [
        f"{file} grants {identity} `{right}`, which no test ever saw it use"
        for identity in (PLANNER, DRAINER)
        for right in sorted(grants.get(identity, frozenset()) - used.get(identity, frozenset()))
    ]


def idle_options(used: Rights) -> list[str]:
    """Say what an option grants and nobody ever used, whoever it was."""
    by_anyone = {who: frozenset(used.get(who, ())) | frozenset(used.get(ANYONE, ())) for who in (PLANNER, DRAINER)}
    emails = {"planner": PLANNER, "drainer": DRAINER}
    granting = {f"infra/options/{name}.yaml": filled(file, **emails) for name, file in OPTIONS.items()}
    return [said for file, text in granting.items() for said in idle(by_anyone, granted(text), file)]
