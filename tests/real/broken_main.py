"""Ebb, broken on purpose, in place of the root's `main.py`: does the test of killed drainers see anything?

    KILLED_DRAINERS_BROKEN=no_healing KILLED_DRAINERS=20 pytest -s tests/real/test_killed_drainers.py

must fail; `BROKEN` names the break. Never used but by that variable.
"""

import os
from typing import Any

from functions.drainer import finish
from functions.planner import read_and_repair as passing
from main import drain, plan
from shared.adapters.kubernetes import writes
from shared.core.cluster.node import Node
from shared.core.cluster.pod import Pod
from shared.ports import Ports

__all__ = ("drain", "plan")
_body = writes.eviction_body


def _no_finding(*_: object) -> tuple[()]:
    return ()


def _leave_it(ports: Ports, name: str, *_: object) -> Node:
    """Report that the node was uncordoned, and do nothing."""
    return ports.cluster.node(name)


def _whoever_bears_the_name(pod: Pod, grace_seconds: int, *, dry_run: bool) -> dict[str, Any]:
    made = _body(pod, grace_seconds, dry_run=dry_run)
    del made["deleteOptions"]["preconditions"]
    return made


_BREAKS: dict[str, tuple[Any, str, Any]] = {
    "no_healing": (passing, "find_repairs", _no_finding),
    "no_return": (finish, "restore_node", _leave_it),
    "no_uid": (writes, "eviction_body", _whoever_bears_the_name),
}
setattr(*_BREAKS[os.environ["BROKEN"]])
