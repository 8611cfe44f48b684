from functions.cli.plan.sentences import WordKind, legend
from shared.core.planning.plan import Verdict
from shared.core.reasons import Blocker, PodBlock, Unremovable
from tests.cli.plan.plans import DOLLAR, blocked, busy, decision, in_flight, ordered, plan


def test_each_reason_is_shown_once_under_what_it_is_shown_about() -> None:
    entries = legend(plan(busy("n1"), busy("n2"), ordered("n3"), in_flight("n4")))
    assert [(entry.kind, entry.word, entry.nodes) for entry in entries] == [
        (WordKind.GOES, "in flight", 1),
        (WordKind.GOES, "underutilized", 1),
        (WordKind.NODE, "cpu_above_limit", 2),
    ]


def test_what_holds_most_money_comes_first_however_few_nodes_it_is() -> None:
    entries = legend(plan(busy("n1"), busy("n2"), blocked("n3", "shop/a", cost=DOLLAR)))
    assert [(entry.word, entry.cost) for entry in entries if entry.kind is WordKind.NODE] == [
        ("blocked_by_pod", DOLLAR),
        ("cpu_above_limit", DOLLAR // 5),
    ]


def test_what_lies_on_the_most_expensive_node_is_named_first() -> None:
    entries = legend(plan(blocked("n1", "shop/a"), blocked("n2", "shop/b", cost=DOLLAR)))
    assert [name for name, _ in entries[-1].about] == ["shop/b", "shop/a"]


def test_what_pods_show_follows_the_reasons_of_the_verdicts_and_names_the_pods() -> None:
    entries = legend(plan(blocked("n1", "shop/b", "shop/a"), blocked("n2", "shop/a")))
    assert [(entry.word, entry.nodes, entry.about) for entry in entries] == [
        ("blocked_by_pod", 2, ()),
        ("local_storage", 2, (("shop/b", "volume cache"), ("shop/a", "volume cache"))),
    ]


def test_a_reason_that_is_not_the_first_is_shown_too() -> None:
    both = (Blocker(Unremovable.TOO_YOUNG), Blocker(Unremovable.NOT_READY))
    assert [entry.word for entry in legend(plan(decision("n1", Verdict.KEEP, *both)))] == ["too_young", "not_ready"]


def test_nodes_without_a_price_hold_no_sum_of_money() -> None:
    priced, unpriced = legend(plan(busy("n1"), decision("n2", Verdict.KEEP, Blocker(Unremovable.NO_POOL), cost=0)))
    assert (priced.month, unpriced.month) == ("$73", "-")


def test_every_entry_has_a_sentence() -> None:
    everything = [
        decision(f"n-{reason.value}", Verdict.KEEP, Blocker(reason))
        for kind in (Unremovable, PodBlock)
        for reason in kind
    ]
    expired = ordered("n1", reason="expired")
    assert all(entry.sentence for entry in legend(plan(*everything, expired, in_flight("n2"))))


def test_what_is_true_of_every_object_is_shown_once() -> None:
    same, other = (legend(plan(blocked("n1", "shop/a", "shop/b"), *more))[-1] for more in ((), (busy("n2"),)))
    assert same.some_objects(1) == "shop/a and 1 more (volume cache)"
    assert other.some_objects(3) == "shop/a, shop/b (volume cache)"
    own = legend(plan(decision("n1", Verdict.KEEP, *(Blocker(PodBlock.VOLUMES, f"shop/{at}", at) for at in "ab"))))[-1]
    assert own.some_objects(3) == "shop/a (a), shop/b (b)"
