"""The restart of a Deployment whose pods are to leave without a gap. No rule lives here: `surging` decides.

The Deployment is read in the same moment, the record is written before it is touched, and the write holds only on the
version that was read.
"""

from collections.abc import Iterable

from msgspec.structs import replace as changed

from functions.drainer import finish
from functions.drainer.session import DrainSession
from shared.core.cluster.workloads import Deployment
from shared.core.draining.observation import Observation
from shared.core.draining.replacements import with_baselines
from shared.core.draining.steps import LOOK_EVERY, Restart
from shared.core.draining.surging import asked_of, is_taken_back, why_not_restart
from shared.core.reasons import Halt
from shared.errors import Gone, Stale, Terminal


def refused_restart(session: DrainSession, surging: Iterable[Deployment]) -> str:
    """Try each restart with dryRun=All, and return what was refused for good; empty where nothing was.

    A Deployment that has changed since it was read is judged when the drain has come so far. Raises Retryable.
    """
    for found in surging:
        session.check_admission()
        try:
            session.ports.cluster.restart(found, session.order.order_id, dry_run=True)
        except (Stale, Gone):
            continue
        except Terminal as fault:
            return f"{found.name}: {fault}"
    return ""


def restart(session: DrainSession, observed: Observation, step: Restart) -> bool:
    """Restart a Deployment, or find that this drain has; True where that was refused for good and ends the drain.

    Raises:
        Stale: another step has overtaken this one.
    """
    found = _read(session, step.deployment)
    if found is None:  # what stood behind its pods is read again by and by
        session.time.rest(LOOK_EVERY)
        return False
    asked = session.record.surges.get(found.name)
    if asked is not None and found.stamp == session.order.order_id:
        _record_written(session, found.name)  # an answer was lost, or the step that asked
        return False
    if asked is not None and is_taken_back(found, asked, session.order.order_id):
        detail = f"{found.name}: somebody has undone the restart, or changed it meanwhile"
        finish.give_back(session, session.record.node_uid, Halt.SURGE_FAILED, detail)
        return True
    against = why_not_restart(found, step.pods)
    if against:
        session.time.rest(LOOK_EVERY)
        return False
    _record_asked(session, observed, step, found)
    return _write(session, found, is_first=asked is None)


def _read(session: DrainSession, name: str) -> Deployment | None:
    try:
        return session.ports.cluster.deployment(name)
    except Gone:
        return None


def _write(session: DrainSession, found: Deployment, *, is_first: bool) -> bool:
    try:
        session.ports.cluster.restart(found, session.order.order_id)
    except (Stale, Gone):
        if is_first:  # else what an earlier attempt sent may be what changed it: it stays on record, to be undone
            _record_unwritten(session, found.name)
        return False  # the next look sees what changed
    except Terminal as fault:
        _log(session, found.name, "refused", str(fault))
        finish.give_back(session, session.record.node_uid, Halt.SURGE_REFUSED, str(fault))
        return True
    _record_written(session, found.name)
    return False


def _record_asked(session: DrainSession, observed: Observation, step: Restart, found: Deployment) -> None:
    """Write what is about to be restarted, and as what it stood; the fence: fails when we were overtaken."""
    leased, now = session.leased, session.time.now()
    surges = {**leased.record.surges, found.name: asked_of(found, now)}
    room = leased.record.buffers or (dict(observed.proof.buffers) if observed.proof else {})
    leased.write(now, surges=surges, before=with_baselines(leased.record, observed, step.pods), buffers=room)
    _log(session, found.name, "asked", f"for {', '.join(pod.key for pod in step.pods)}")


def _record_unwritten(session: DrainSession, name: str) -> None:
    """Forget what was asked for and certainly not written."""
    others = {key: each for key, each in session.record.surges.items() if key != name}
    session.leased.write(session.time.now(), surges=others)


def _record_written(session: DrainSession, name: str) -> None:
    now, surges = session.time.now(), session.record.surges
    session.leased.write(now, surges={**surges, name: changed(surges[name], written=True, at=now)})
    _log(session, name, "restarted", "its controller ends the old pod once the new one is available")


def _log(session: DrainSession, name: str, answer: str, detail: str) -> None:
    session.log_event("surge", f"{name}: {answer}, {detail}", workload=name, answer=answer, detail=detail)
