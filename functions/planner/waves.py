"""What a pass does about its wave: whether it lives, its document, and orders for the soft taints that stand for it.

The document is written before any order that follows from it. Which taints are missing or left over is found again in
each pass (`planning.waves.soft_taints`), so that a lost message, a killed pass or a lost document needs no memory: the
next pass orders what is still to be done, and the drainer looks at the document again before it writes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from functions.planner.read_and_repair import PassInputs, log_skipped
from shared.core.planning.plan import Plan
from shared.core.planning.waves import WaveEnd, ending, remaining_nodes, soft_taints, wave_after
from shared.core.policy import Policy
from shared.core.records.orders import CLAIM_WITHIN, MOST_HELD, Order, OrderKind, Origin, order_id, parts
from shared.core.records.state import Wave, WaveNode
from shared.core.rules.situation import Situation
from shared.ports import WAVE_KEY, Ports, StoredDocument
from shared.store.compare_and_set import read_lenient


@dataclass(frozen=True)
class ActiveWave:
    """The wave at the begin of a pass: its document, the nodes that are left, and why it ended just now."""

    document: StoredDocument[Wave]
    left: tuple[str, ...] | None = None  # By name, in the wave's order; None where no wave lives.
    ended: WaveEnd | None = None


def active_wave(ports: Ports, inputs: PassInputs) -> ActiveWave:
    """Read the wave and judge it by what this pass rests on; a node with an order on its way is in flight."""
    document = _read(ports)
    if document.value is None or not document.value.nodes:
        return ActiveWave(document)
    situation = Situation(inputs.snapshot, inputs.planned, inputs.policy or Policy())
    return ActiveWave(document, remaining_nodes(document.value, situation), ending(document.value, situation))


def keep_document(ports: Ports, run_id: str, plan: Plan, policy: Policy | None, wave: ActiveWave) -> Wave | None:
    """Write what became of the wave in this pass; return the one that lives now. Raises Stale: another wrote it."""
    before = wave.document.value
    after = wave_after(order_id(run_id, "wave"), plan, policy, before, wave.left)
    if after != before or (before is None and wave.document.version is not None):
        _write(ports, wave.document.version, after)
        _log_change(ports, wave, after)
    return after


def _write(ports: Ports, version: str | None, wave: Wave | None) -> None:
    if wave is not None:
        ports.state.put(WAVE_KEY, wave, version)
    elif version is not None:
        ports.state.delete(WAVE_KEY, version)


def _log_change(ports: Ports, wave: ActiveWave, after: Wave | None) -> None:
    """Write a line for nodes that leave a wave, one for its end, one for a wave that begins, one for costly nodes."""
    before = wave.document.value
    follows = before is not None and after is not None and after.id == before.id
    had, has = (of.nodes if of is not None else () for of in (before, after))
    if before is not None and follows and (gone := [node for node in had if node not in has]):
        _log(ports, before, "shrunk", f"Nodes leave the wave: {_names(gone)}.", len(has))
    if before is not None and had and not (follows and has):
        end = wave.ended or WaveEnd.EMPTY
        _log(ports, before, end.value, f"The wave ends. {end.sentence}", 0)
    if after is not None and has and not follows:
        _log(ports, after, "begun", f"A wave: {_names(has)}.", len(has))
    avoided, costly = (of.costly if of is not None else () for of in (before, after))
    if (of := after or before) is not None and costly != avoided:
        _log(ports, of, "costly", f"Pods avoid costly nodes: {_names(costly) or 'none'}.", len(costly))


def _log(ports: Ports, wave: Wave, reason: str, message: str, nodes: int) -> None:
    ports.log.event("wave", message, wave=wave.id, reason=reason, nodes=nodes)


def _names(nodes: Sequence[WaveNode]) -> str:
    return ", ".join(node.name for node in nodes)


def order_soft_taints(
    ports: Ports, cluster: str, inputs: PassInputs, wave: Wave | None, before: Wave | None = None
) -> None:
    """Publish what is left over or missing of soft taints; `before` is the wave that lived until now."""
    found = soft_taints(inputs.snapshot.nodes, inputs.planned, wave, before)
    for kind, nodes in ((OrderKind.LET_GO, found.let_go), (OrderKind.HOLD, found.hold)):
        for part in parts(nodes, MOST_HELD):
            ports.orders.publish(_order(kind, part, cluster, inputs.now))
            message = f"{kind.value}: {_names(part)}."
            ports.log.event("soft_taints", message, nodes=len(part), reason=kind.value)


def _read(ports: Ports) -> StoredDocument[Wave]:
    found = read_lenient(ports.state, WAVE_KEY)
    if found.fault:
        log_skipped(ports.log, found.fault)
    return found


def release_expired_wave(ports: Ports, cluster: str, inputs: PassInputs) -> None:
    """Do the same in a pass that cannot plan, and log what fails: the fault that led here ends the pass."""
    try:
        wave = _read(ports).value
        lives = wave if wave and inputs.now < wave.deadline else None
        order_soft_taints(ports, cluster, inputs, lives, before=wave)
    except Exception as fault:  # noqa: BLE001 - whatever it is, it must not hide the fault that led here
        ports.log.event("run_summary", f"Soft taints wait for the next pass: {fault}", severity="WARNING")


def _order(kind: OrderKind, nodes: Sequence[WaveNode], cluster: str, now: datetime) -> Order:
    return Order(
        kind=kind,
        order_id=order_id(now.isoformat(), f"{kind.value} {nodes[0].uid}"),
        cluster=cluster,
        node="",
        nodes={node.uid: node.name for node in nodes},
        origin=Origin.PLANNER,
        issued_at=now,
        expires_at=now + CLAIM_WITHIN,
    )
