"""A budget is found for exactly the pods that it matches, in the order in which budgets were read."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from shared.core.cluster.selectors import LabelSelector, Requirement
from shared.core.rules.drain_context import BudgetIndex
from tests.builders import pdb, pod

KEYS, VALUES, SPACES = ("app", "tier"), ("a", "b", ""), ("default", "shop")
REQUIREMENTS = st.builds(
    Requirement,
    st.sampled_from(KEYS),
    st.sampled_from(("In", "NotIn", "Exists", "DoesNotExist")),
    st.lists(st.sampled_from(VALUES), max_size=3).map(tuple),
)
SELECTORS = st.none() | st.lists(REQUIREMENTS, max_size=3).map(lambda each: LabelSelector(tuple(each)))
BUDGETS = st.lists(st.tuples(st.sampled_from(SPACES), SELECTORS), max_size=8)
LABELS = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES))


@given(BUDGETS, LABELS, st.sampled_from(SPACES))
def test_the_index_finds_what_comparing_each_finds(
    rows: list[tuple[str, LabelSelector | None]], labels: dict[str, str], namespace: str
) -> None:
    budgets = [
        replace(pdb(f"b{number}"), namespace=space, selector=selector) for number, (space, selector) in enumerate(rows)
    ]
    spec = pod("p", namespace=namespace, labels=labels).spec

    assert BudgetIndex(budgets).matching(spec) == tuple(budget for budget in budgets if budget.matches(spec))
