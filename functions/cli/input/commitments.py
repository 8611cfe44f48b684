"""The commitments of a file that gcloud wrote: they replace the families of the policy."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec

from functions.cli.dumps.files import name_of
from functions.cli.output.format import count, moment, some
from functions.cli.output.visible import visible
from shared.core.policy import Policy
from shared.core.policy.values import NO_COMMITMENTS, Commitment, Commitments
from shared.core.records.commitments import (
    CommitmentBasis,
    CommitmentReading,
    CountedCommitments,
    ListedCommitment,
    count_commitments,
    unknown_types,
)
from shared.errors import BadInput
from shared.ports import COMMITMENTS_KEY

COMMAND: Final = "gcloud compute commitments list --format=json"
KIND: Final = "compute#commitment"
SHARED: Final = (
    "The commitments are shared by {clusters}. This plan counts all of them for this cluster, so the savings of these "
    "clusters do not add up. ebb fleet divides them by use."
)
COUNTED_BY_EACH: Final = (
    "Each of these clusters counts all of the commitments: where they share one, their savings do not add up."
)
LIST_PRICES: Final = "Nodes count at list prices, here as for the planner: {list} is more than a day old."
STALE: Final = " The planner could not read it again since."
READ_ELSEWHERE: Final = (
    "The planner reads the commitments of machine families once an hour (cluster.commitments.read). This plan uses "
    f"those of the policy; --commitments FILE uses what {COMMAND} prints."
)


@dataclass(frozen=True)
class CommitmentFile:
    name: str
    rows: tuple[ListedCommitment, ...]
    read: CommitmentReading | None = None  # The planner's reading, if it is no file.

    def unknown(self, region: str) -> str:
        return visible(unknown_types(count_commitments(self.rows, region)))


def read_commitments(path: Path) -> CommitmentFile:
    """Read what gcloud lists or describes. Raises BadInput: the file holds something else."""
    from functions.cli.input.files import read_bytes

    name, data = name_of(path), read_bytes(path)
    try:
        given = msgspec.json.decode(data)
        rows = given if isinstance(given, list) else [given]
        kinds = (str(row.get("kind", KIND)) for row in rows if isinstance(row, dict))
        other = next((kind for kind in kinds if kind != KIND), "")
        if not other:
            return CommitmentFile(name, msgspec.convert(rows, tuple[ListedCommitment, ...], strict=False))
        why = f"it holds a {visible(other[:60])} and not only commitments"
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        why = str(error) if data.strip() else "it is empty"
    raise BadInput(f"--commitments: {name}: {why}; write it again: {COMMAND} > FILE")


def listed_by_planner(environment: Mapping[str, str]) -> CommitmentFile | None:
    """Return the planner's last list; None where it has none. Raises BadSettings, Retryable, Terminal."""
    from shared.settings import read_settings
    from shared.store.compare_and_set import read_lenient
    from shared.wiring import state_of

    reading = read_lenient(state_of(read_settings(environment)), COMMITMENTS_KEY).value
    if reading is None or reading.read_at is None:
        return None
    return CommitmentFile(f"the planner's list of {moment(reading.read_at)}", reading.rows, reading)


def with_commitments(
    policy: Policy, file: CommitmentFile | None, region: str, now: datetime
) -> tuple[Policy, tuple[str, ...]]:
    """Return the policy with the families of the file in place of its own, and sentences on what counts."""
    shared = policy.commitments.shared_by
    notes = (SHARED.format(clusters=some(shared, 20)),) if len(shared) > 1 else ()
    if file is None or (file.read and not policy.commitments.read):
        return policy, (*notes, READ_ELSEWHERE) if policy.commitments.read else notes
    basis = file.read.basis(now) if file.read else CommitmentBasis.READ
    if basis is CommitmentBasis.LIST_PRICES:
        return replace(policy, commitments=NO_COMMITMENTS), (LIST_PRICES.format(list=file.name),)
    found = count_commitments(file.rows, region)
    changed = replace(policy, commitments=replace(policy.commitments, families=found.families))
    stale = STALE if basis is CommitmentBasis.STALE else ""
    return changed, (f"{_note(file.name, found, region)}{stale}", *notes)


def ended_commitments(commitments: Commitments, now: datetime) -> str:
    """Return the sentence on commitments that have ended; empty if none has."""
    over = [f"{family} on {until:%Y-%m-%d}" for family, until in commitments.ends if until <= now]
    return f"Commitments that have ended count for nothing: {some(over)}." if over else ""


def _note(name: str, found: CountedCommitments, region: str) -> str:
    families = "; ".join(map(_in_words, found.families)) or "none"
    left = some([f"{count(len(names), 'commitment')} {why}" for why, names in found.left_out.items()], 20)
    note = f"Commitments of {name}{f' in {region}' if region else ''}: {families}."
    return visible(f"{note} Left out: {left}." if left else note)


def _in_words(paid: Commitment) -> str:
    size = f"{paid.family} {float(paid.size.vcpu):g} vCPUs {float(paid.size.gib):g} GiB"
    return f"{size} until {moment(paid.until)}" if paid.until else size
