"""`ebb pause` and `ebb resume`: a flag in the cluster's document, which each claim and step reads (docs/run.md)."""

import os
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import typer
from msgspec.structs import replace

from functions.cli.output.format import count
from shared.adapters.process import SystemClock
from shared.core.records.state import INTERVAL, ClusterState
from shared.errors import BadInput
from shared.ports import Clock, State
from shared.settings import read_settings
from shared.store.compare_and_set import change_cluster
from shared.wiring import state_of

LONGEST_REASON: Final = 200
"""It stands in the cluster's document, which every claim rewrites, and in the log line of every node."""


@dataclass(frozen=True, slots=True)
class PauseSwitch:
    """Whose flag it is, and how it is reached."""

    cluster: str
    state: State
    clock: Clock
    interval: timedelta = INTERVAL
    """How far apart the planner's passes are."""


ALREADY: Final = "It was paused before this, too; --reason changes why."


def open_switch() -> PauseSwitch:
    """Return the flag of the cluster that the environment names: EBB_CLUSTER, EBB_STATE, EBB_FIRESTORE_DATABASE.

    Raises BadSettings: the environment names no cluster; Terminal: the state cannot be opened.
    """
    settings = read_settings(os.environ)
    return PauseSwitch(
        settings.cluster, state_of(settings), SystemClock(), timedelta(seconds=settings.interval_seconds)
    )


def print_pause(*, paused: bool, reason: str = "") -> None:
    """Set or clear the flag, and print what holds now. Raises BadInput: the reason is no short line."""
    if len(reason) > LONGEST_REASON or not reason.isprintable():
        raise BadInput(f"--reason: write one line of at most {LONGEST_REASON} characters.")
    for sentence in set_flag(open_switch(), paused=paused, reason=reason):
        typer.echo(sentence)


def set_flag(switch: PauseSwitch, *, paused: bool, reason: str) -> tuple[str, ...]:
    """Set or clear the flag by compare-and-set, and return what holds now, in sentences.

    A pause of what is paused keeps the reason that stands, unless it has one of its own.
    """
    was_paused = False

    def change(before: ClusterState, now: datetime) -> ClusterState:
        nonlocal was_paused
        del now
        was_paused = before.paused
        why = reason or (before.pause_reason if before.paused else "")
        return replace(before, paused=paused, pause_reason=why if paused else "")

    found = sentences(switch.cluster, change_cluster(switch.state, switch.clock, change))
    return (*found, ALREADY) if paused and was_paused else found


def sentences(cluster: str, state: ClusterState) -> tuple[str, ...]:
    """Return what the flag means for the drains that stand."""
    drains = count(len(state.claims), "drain")
    if state.paused:
        why = f" ({state.pause_reason})" if state.pause_reason else ""
        return (
            f"{cluster} is paused{why}.",
            f"No drain starts; {drains} in progress: nodes are returned at the next step. Repairs and marks go on.",
            "Run ebb resume to end it.",
        )
    return (
        f"{cluster} is not paused by hand; {drains} in progress.",
        "Drains start again with the next pass, unless the policy has paused: true.",
    )
