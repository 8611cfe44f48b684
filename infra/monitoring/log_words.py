"""The words of the label `reason` that no decision has: what a line with one says, and what to do. A table.

All other words stand in docs/reasons.md. Tests hold the table to what the functions write. Must not hold a reason.
"""

from dataclasses import dataclass
from typing import Final

_NOTHING: Final = "Nothing."
_LISTS: Final = (
    "Apply `infra/rbac.yaml` again: what it may not read is in the message. Where that names an object, look at what "
    "its owner wrote."
)


@dataclass(frozen=True)
class LogWord:
    """A word, the events whose lines bear it, what it says, what to do."""

    word: str
    events: tuple[str, ...]
    says: str
    do: str


LOG_WORDS: Final = (
    LogWord("unreachable", ("run_summary",), "The cluster, the GKE API or the state did not answer: the pass ended "
            "early, and no more was done.", "Nothing after one; the next pass tries again. After several, the alert "
            "*no successful pass* says where to look."),
    LogWord("retryable", ("drain_step",), "The same in a step of a drain: its message comes again.",
            "Nothing, unless the same order says it for half an hour."),
    LogWord("stale", ("drain_step",), "Something had changed since it was read: the message comes again.", _NOTHING),
    LogWord("terminal", ("run_summary", "drain_step"), "The function cannot go on until a person mends what the "
            "message names: a right, a setting, a name.", "Mend it; passes and messages come again by themselves. "
            "`ebb doctor` looks for the usual causes."),
    LogWord("unforeseen", ("run_summary", "drain_step"), "A fault that the code did not foresee; the kind of it is in "
            "the message, the traceback beside it.", "Report it to the maintainers. `ebb pause` stops new drains if it "
            "comes again and again."),
    LogWord("unreadable", ("run_summary", "drain_step"), "The record of a drain is of another version and is skipped; "
            "its node is given back.", "Nothing after an upgrade or a way back; else report it."),
    LogWord("not_healed", ("run_summary",), "One repair failed; the others were made.",
            "The next pass tries again. If the same node is named in three passes: `ebb release NODE`."),
    LogWord("not_steered", ("run_summary",), "A deletion cost could not be written or taken back (`steerScaleIn`), "
            "or a pod template carries `ebb.internal/steered`; the pass went on.", "Where it names a missing right, "
            "apply `infra/options/steer.yaml` or switch the option off; where it names a pod template, take the "
            "annotation out of it; else nothing, the next pass tries again."),
    LogWord("advice_missing", ("run_summary", "drain_step"), "A list that Ebb can do without may not be read or did "
            "not answer, or an object in it has a shape that Ebb does not know: it goes on with less knowledge, as the "
            "message says.", _LISTS),
    LogWord("unknown_pool", ("policy_warning",), "The policy names a pool that the cluster does not have.",
            "Correct the name in the policy."),
    LogWord("hardly_meant", ("policy_warning",), "A setting is valid and probably a mistake.",
            "`ebb policy check FILE` says the same with the remedy."),
    LogWord("unread_cost", ("policy_warning",), "The value of a cost annotation on a pod is no number that Kubernetes "
            "would read; it does not count.", "Tell the owner of the workload that the message names."),
    LogWord("continue", ("healed",), "A step of a drain had fallen silent; its order was published again.",
            "Nothing after one; if it comes again and again, look at the drainer's errors."),
    LogWord("continued", ("drain_step",), "The step's time is over; the drain goes on in a new message.", _NOTHING),
    LogWord("early", ("drain_step",), "The order's `not_before` lies ahead: its message comes again.", _NOTHING),
    LogWord("whole_picture", ("drain_step",), "The whole cluster was read for this order, or a picture was shared.",
            _NOTHING),
    LogWord("ignore_not_allowed", ("drain_step",), "A person's order asked to ignore more than `manual.mayIgnore` of "
            "the policy allows; the order was judged without that.", "Allow the word in the policy, or leave it out."),
)  # fmt: skip
