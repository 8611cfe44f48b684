"""`ebb explain`: gather, make the plan once, find what each word means and print its page.

Must not decide anything.
"""

from collections.abc import Iterable

from rich.console import Console

from functions.cli.explain import node_page, pod_page, workload_page
from functions.cli.explain.meant import Meant, meant
from functions.cli.explain.usage import ShownUsage, usage_of
from functions.cli.inputs import NO_MARKS, Sources, gather
from functions.cli.plan.notes import show_notes
from functions.cli.plan.remembered import remembered
from functions.cli.plan.view import PlanView, view_of
from functions.cli.terminal import printing
from shared.core.planning.explanation import Explainer
from shared.core.planning.make_plan import make_plan
from shared.core.rules.situation import Situation


def explain_all(sources: Sources, words: Iterable[str]) -> None:
    """Print a page for each word, the notes of the plan before the first.

    Raises:
        BadInput: a word means nothing in the cluster, or more than one thing.
    """
    inputs = gather(sources)
    past = remembered(inputs.snapshot, assume_marked=False)
    situation = Situation(inputs.snapshot, past.state, inputs.policy)
    plan = make_plan(situation, past.marks, inputs.prices)
    found = [meant(situation, word) for word in words]
    usage = usage_of(sources)
    said = tuple(past.note if note == NO_MARKS else note for note in inputs.notes)
    notes = (*said, usage.note) if usage.note else said
    view, explainer = view_of(plan, notes=notes, partial=inputs.partial), Explainer(situation, plan)
    with printing() as console:
        show_notes(console, view.notes)
        for number, each in enumerate(found):
            if number:
                console.print()
            _show(console, view, explainer, each, usage)


def _show(console: Console, view: PlanView, explainer: Explainer, what: Meant, usage: ShownUsage) -> None:
    if what.workload:
        workload_page.show(console, view, explainer, what)
    elif what.pods:
        (pod,) = what.pods
        pod_page.show(console, view, *explainer.pod(pod), usage.pods.get(pod.key), pod)
    else:
        node_page.show(console, view, what.node, explainer.node(what.node), usage.nodes.get(what.node))
