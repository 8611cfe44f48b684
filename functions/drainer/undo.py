"""A drain that ends early removes its restarts from Deployments. No rule lives here: `surging` decides what is ours.

The node has been uncordoned before, whatever comes of it here. What cannot be undone now stays on the record, and later
passes try again (`healing.repairs`).
"""

from typing import Final

from msgspec.structs import replace as changed

from functions.drainer.session import DrainSession
from shared.core.cluster.workloads import Deployment
from shared.core.draining.surging import restarts, stamp_to_restore, take_back_by_hand
from shared.core.records.drain_record import DrainPhase, Surge
from shared.errors import Gone, Retryable, Stale, Terminal

TRIES: Final = 5


def undo_restarts(session: DrainSession) -> None:
    """Undo what hangs of the restarts that this drain asked for; what is rolled out, or another's by now, is left.

    Raises:
        Retryable: the record could not be written; a later step goes on.
        Stale: somebody else has written the record of the drain, which is over.
    """
    surges = {name: _looked_at(session, name, asked) for name, asked in restarts(session.record)}
    if surges == session.record.surges or not surges:
        return
    if session.record.phase is DrainPhase.SETTLED:
        session.leased.amend(surges=surges)
    else:
        session.leased.remember(surges=surges)


def _looked_at(session: DrainSession, name: str, asked: Surge) -> Surge:
    """Undo one, and return what is known of it now: by that a pass sees whether another look is worth a release."""
    try:
        generation = _undo(session, name, asked)
    except Retryable as fault:
        _log(session, name, "later", f"{fault}; the next passes try again", severity="WARNING")
        return asked
    except Terminal as fault:  # the node is given back all the same; a person has to undo the rest
        _log(session, name, "stuck", f"{fault}; {take_back_by_hand(name)}", severity="WARNING")
        is_over = session.record.phase is DrainPhase.SETTLED
        return changed(asked, stuck=True, refused=asked.refused + int(is_over))
    return changed(asked, stuck=False, looked_at=generation)


def _undo(session: DrainSession, name: str, asked: Surge) -> int | None:
    """Return the generation at which nothing of ours was left; None where it was undone now, or is no more."""
    for _ in range(TRIES):
        try:
            return _restore(session, session.ports.cluster.deployment(name), asked)
        except Gone:
            return None
        except Stale:
            continue
    raise Retryable("deployment", f"{name} changed {TRIES} times while its restart was being undone")


def _restore(session: DrainSession, found: Deployment, asked: Surge) -> int | None:
    stamp = stamp_to_restore(found, asked, session.record.order.order_id)
    if stamp is None:
        _log(session, found.name, "left", "nothing of the restart hangs, or it is somebody else's by now")
        return found.generation
    session.ports.cluster.restart(found, stamp)
    _log(session, found.name, "undone", "the old pod's template is the newest again")
    return None


def _log(session: DrainSession, name: str, answer: str, detail: str, severity: str = "INFO") -> None:
    message = f"{name}: {answer}, {detail}"
    session.log_event("surge", message, severity=severity, workload=name, answer=answer, detail=detail)
