"""The readers of what strangers write: they may only fail with a named fault, and what they accept is used."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final

from functions.cli.analysis.potential import potential
from functions.cli.dumps.reading import read_dump
from functions.cli.input.commitments import read_commitments, with_commitments
from functions.cli.plan.as_json import document
from functions.cli.plan.view import view_of
from functions.cli.policy.importing.estafette import from_estafette
from functions.cli.policy.importing.karpenter import from_karpenter
from functions.cli.policy.importing.node_refiner import from_node_refiner
from functions.cli.policy.importing.writing import Imported
from functions.planner import pass_log as lines
from shared.adapters.prices import load
from shared.adapters.pubsub import unwrap
from shared.core.planning.bill import Bill
from shared.core.planning.make_plan import make_plan
from shared.core.planning.metrics import node_metrics
from shared.core.policy.parsing import parse
from shared.core.policy.schedule import hits
from shared.core.policy.warnings import warnings
from shared.core.reasons import DrainReason
from shared.core.records.orders import decode, encode
from shared.core.records.state import ClusterState
from shared.core.rules.budgets import Calendar, freeze_in_force, limit_now, window_open
from shared.core.rules.situation import Situation
from shared.errors import BadInput
from shared.ports import PoolsReading
from shared.store.snapshots import snapshot_of
from tests.builders import CLUSTER, NOW, node, policy

CORPUS: Final = Path(__file__).parent / "corpus"
_MOST_SCHEDULES: Final = 3
_EAGER: Final = replace(policy(), other_pools=policy().pool("a"))
"""Every pool is enabled, and no gate or limit keeps a plan from the proof of placement."""


@dataclass(frozen=True)
class Target:
    """One reader: its corpus is the folder of that name; `share` is its part of all inputs."""

    name: str
    read: Callable[[bytes], object]
    share: float
    as_yaml: bool = False

    @property
    def corpus(self) -> list[Path]:
        return sorted((CORPUS / self.name).iterdir())


def read_policy(data: bytes) -> None:
    policy = parse(data)
    assert all(warnings(policy))
    calendar = Calendar(NOW)
    for pool in [*policy.pools.values(), policy.other_pools]:
        limit_now(pool.budgets, DrainReason.EMPTY, 10, calendar)
        window_open(pool.windows, calendar)
        for schedule in [*(budget.schedule for budget in pool.budgets if budget.schedule), *(pool.windows or ())][
            :_MOST_SCHEDULES
        ]:
            list(hits(schedule, NOW, NOW + timedelta(hours=1)))
    freeze_in_force(policy.freezes, NOW)


def read_order(data: bytes) -> None:
    order = decode(data, CLUSTER, "message", NOW)
    assert decode(encode(order), CLUSTER, "other", NOW) == order
    assert order.expires_at + timedelta(days=1) > datetime(1970, 1, 1, tzinfo=UTC)


def read_envelope(data: bytes) -> None:
    message = unwrap(data)
    assert message.published_at.utcoffset() == timedelta(0)


def read_dump_file(data: bytes) -> None:
    path = _file()
    path.write_bytes(data)
    reading, now = read_dump([path])
    assert reading.nodes
    assert now.tzinfo is not None


def read_and_plan(data: bytes) -> None:
    """Go the whole way from the API's words to the plan and its tellings; what was read has no excuse any more."""
    path = _file()
    path.write_bytes(data)
    reading, now = read_dump([path])
    snapshot = snapshot_of("c", reading, PoolsReading({}, known=False), now, now)
    situation = Situation(snapshot, ClusterState(), _EAGER)
    plan, most = make_plan(situation, {}, load()), potential(situation, load())
    json.dumps(document(view_of(plan, most)), allow_nan=False)
    for decision in plan.decisions:
        json.dumps(lines.node_decision(decision), allow_nan=False, default=str)
    json.dumps(lines.pool_state(node_metrics(plan, snapshot, load())), allow_nan=False)


def read_commitment_file(data: bytes) -> None:
    path = _file()
    path.write_bytes(data)
    file = read_commitments(path)
    read, notes = with_commitments(policy(), file, "europe-west4", NOW)
    assert all("\n" not in note for note in (*notes, file.unknown("europe-west4")))
    nodes = [node("n1", machine="n2-standard-8")]
    assert all(use.idle >= 0 for use in Bill.of(load(), read.commitments, nodes, NOW).uses(nodes))


@cache
def _file() -> Path:
    """One file for each process, in memory where there is such a folder."""
    memory = Path("/dev/shm")  # noqa: S108 - only a faster place for a file of our own with a random name
    descriptor, name = tempfile.mkstemp(prefix="ebb-fuzz-", dir=memory if memory.is_dir() else None)
    os.close(descriptor)
    return Path(name)


def importers() -> Iterator[Target]:
    """Return the readers of other consolidators' configurations; what they write must be a policy."""
    for name, convert in (("estafette", from_estafette), ("karpenter", from_karpenter), ("refiner", from_node_refiner)):
        yield Target(f"import-{name}", _converted(convert), 0.03, as_yaml=True)


def _converted(convert: Callable[[bytes], Imported]) -> Callable[[bytes], object]:
    return lambda data: parse(convert(data).document.encode())


TARGETS: Final = (
    Target("policy", read_policy, 0.1, as_yaml=True),
    Target("order", read_order, 0.35),
    Target("envelope", read_envelope, 0.35),
    Target("dump", read_dump_file, 0.2),
    Target("commitments", read_commitment_file, 0.05, as_yaml=True),
    Target("plan", read_and_plan, 0.005),
    *importers(),
)


def accepts(target: Target, data: bytes) -> bool:
    """Return whether the reader takes the input; a refusal must be sentences. Any other failure passes through."""
    faults: tuple[str, ...] | None = None
    try:
        target.read(data)
    except BadInput as refusal:
        faults = refusal.faults
    assert faults is None or (faults and all(fault and "\n" not in fault for fault in faults)), faults
    return faults is None
