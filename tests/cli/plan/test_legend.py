from functions.cli.plan.legend import legend
from shared.core.planning.plan import Verdict
from shared.core.reasons import Blocker, PodBlock, Unremovable
from tests.cli.plan.plans import blocked, busy, decision, in_flight, ordered, plan


def test_each_reason_is_said_once_the_most_frequent_first() -> None:
    entries = legend(plan(busy("n1"), busy("n2"), ordered("n3"), in_flight("n4")))
    assert [(entry.word, entry.nodes) for entry in entries] == [
        ("cpu_above_limit", 2),
        ("in flight", 1),
        ("underutilized", 1),
    ]


def test_what_pods_say_follows_the_reasons_of_the_verdicts_and_names_the_pods() -> None:
    entries = legend(plan(blocked("n1", "shop/b", "shop/a"), blocked("n2", "shop/a")))
    assert [(entry.word, entry.nodes, entry.objects) for entry in entries] == [
        ("blocked_by_pod", 2, ()),
        ("local_storage", 2, ("shop/a (volume cache)", "shop/b (volume cache)")),
    ]


def test_a_reason_that_is_not_the_first_is_said_too() -> None:
    both = (Blocker(Unremovable.TOO_YOUNG), Blocker(Unremovable.NOT_READY))
    assert [entry.word for entry in legend(plan(decision("n1", Verdict.KEEP, *both)))] == ["too_young", "not_ready"]


def test_every_entry_has_a_sentence() -> None:
    everything = [
        decision(f"n-{reason.value}", Verdict.KEEP, Blocker(reason))
        for kind in (Unremovable, PodBlock)
        for reason in kind
    ]
    expired = ordered("n1", reason="expired")
    assert all(entry.sentence for entry in legend(plan(*everything, expired, in_flight("n2"))))
