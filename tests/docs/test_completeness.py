"""Pages that list what the code has list all of it: rules that are not modelled, answers, rows, examples, targets."""

import re
from collections import Counter
from itertools import chain

from shared.core.cluster.names import NODE_OPT_OUTS, OPT_OUT_UNTIL, POD_OPT_OUTS
from shared.core.reasons import PodBlock, Unremovable
from shared.core.records.drain_record import EvictionAnswer
from shared.core.rules.unmodelled import UNMODELLED, VOLUME_BLOCKS
from tests.acceptance import ROWS
from tests.core.rules.test_autoscaler_rules import MESSAGE_IDS, NODE_RULES, POD_RULES
from tests.pages import DOCS, ROOT, rows

DECISIONS = DOCS / "decisions"


def words(page: str, head: str, column: int = 0) -> list[str]:
    return [cells[column].strip("`") for cells in rows((DOCS / page).read_text(encoding="utf-8"), head)]


def test_every_rule_that_is_not_modelled_is_a_limit() -> None:
    told = words("limits.md", "| word | rule of the pod | why it is not modelled yet | nodes kept | money |")

    asked = (*UNMODELLED, *VOLUME_BLOCKS)
    assert set(told) == {reason.value for reason, _ in asked} | {PodBlock.TOLERATES_DRAIN_TAINT.value}


def test_every_answer_of_the_eviction_api_is_explained() -> None:
    told = words("decisions/evictions.md", "| answer | word | what the drainer does |", 1)

    assert sorted(told) == sorted(answer.value for answer in EvictionAnswer)


def autoscaler_rules() -> dict[str, str]:
    text = (DECISIONS / "autoscaler.md").read_text(encoding="utf-8")
    heads = "| rule | what it does | Ebb |", "| what keeps a node | what the autoscaler does | Ebb |"
    return {cells[0]: cells[2] for head in heads for cells in rows(text, head)}


def test_every_rule_of_the_autoscaler_has_a_test_or_a_sentence_why_not() -> None:
    told, tested = autoscaler_rules(), {*POD_RULES, *NODE_RULES}

    assert tested <= told.keys()
    assert {rule for rule, ebb in told.items() if ebb.startswith("No reason: ")} == told.keys() - tested


def test_the_page_names_every_reason_that_a_rule_of_the_autoscaler_has() -> None:
    told = autoscaler_rules()
    by_pods = {rule: {word for case in cases for word in case.reasons} for rule, cases in POD_RULES.items()}
    by_nodes = {rule: {word} for rule, (word, _) in NODE_RULES.items()}

    named = {rule: set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", told[rule])) for rule in (by_pods | by_nodes)}
    assert [rule for rule, words in (by_pods | by_nodes).items() if not words <= named[rule]] == []


def test_every_message_of_the_autoscaler_is_carried_by_a_reason_or_explained() -> None:
    text = (DECISIONS / "autoscaler.md").read_text(encoding="utf-8")
    explained = {cells[0].strip("`") for cells in rows(text, "| message id | why |")}
    carried = {reason.message_id for reason in (*PodBlock, *Unremovable)} - {""}

    assert explained | carried == MESSAGE_IDS
    assert explained & carried == set()


def test_every_annotation_that_is_honoured_is_named() -> None:
    text = (DECISIONS / "people.md").read_text(encoding="utf-8")
    keys = {*NODE_OPT_OUTS, *POD_OPT_OUTS, OPT_OUT_UNTIL}

    assert [key for key in sorted(keys) if key not in text and f"`{key.partition('/')[2]}`" not in text] == []


def test_every_row_of_the_acceptance_list_shows_what_it_means() -> None:
    text = (DOCS / "acceptance.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| (\d+) \| (\S.*) \|$", text, re.MULTILINE)

    assert [int(row) for row, _ in told] == list(range(1, ROWS + 1))
    assert len({meaning for _, meaning in told}) == ROWS
    target = re.search(r"^acceptance: .*", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert target
    assert "docs/acceptance.md" in target[0]


def test_every_defect_that_a_test_keeps_away_is_listed() -> None:
    told = set(words("decisions/predecessors.md", "| defect | what happened |"))
    text = (DECISIONS / "predecessors.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| ([BN]\d+) \|", text, re.MULTILINE))
    tests = [path.read_text(encoding="utf-8") for path in ROOT.glob("tests/**/test_seed_defects*.py")]
    tested = {name for test in tests for name in re.findall(r'"""([BN]\d+)\b', test)}

    assert tested
    assert told <= listed
    assert tested <= listed


def test_every_decision_is_in_the_list_of_decisions() -> None:
    listed = re.findall(r"\]\(([\w-]+\.md)\)", (DECISIONS / "README.md").read_text(encoding="utf-8"))

    assert sorted(listed) == sorted(path.name for path in DECISIONS.glob("*.md") if path.name != "README.md")


def test_every_input_of_the_module_is_explained_with_each_of_its_fields() -> None:
    page = (ROOT / "terraform" / "README.md").read_text(encoding="utf-8")
    told = {cells[0].strip("`"): cells[3] for cells in rows(page, "| input | type | default | meaning |")}

    assert [name for name, meaning in told.items() if not meaning] == []


def declared() -> Counter[str]:
    """How often each class and type is declared in shared/ and functions/; the wire's types repeat the API's names."""
    files = chain((ROOT / "shared").rglob("*.py"), (ROOT / "functions").rglob("*.py"))
    code = "\n".join(path.read_text(encoding="utf-8") for path in files if not path.name.endswith("wire.py"))
    found = re.findall(r"^(?:class (\w+)|([A-Z]\w*[a-z]\w*) = )", code, re.MULTILINE)
    return Counter(name or alias for name, alias in found)


def test_no_two_classes_share_a_name() -> None:
    assert {name: times for name, times in declared().items() if times > 1} == {}


def test_every_name_in_the_glossary_is_one_of_the_code() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    named = [name for cells in rows(text, "| word | meaning | in code |") for name in re.findall(r"`(\w+)`", cells[2])]

    assert [name for name in named if name not in declared()] == []


def test_every_input_of_the_module_that_a_page_names_is_one() -> None:
    known = {
        cells[0].strip("`")
        for cells in rows((ROOT / "terraform" / "README.md").read_text("utf-8"), "| input | type | default | meaning |")
    }
    objects = "|".join(sorted({name.partition(".")[0] for name in known if "." in name} - {"cluster"}))
    pages = [ROOT / "terraform" / "README.md", DOCS / "options.md"]
    named = {name for page in pages for name in re.findall(rf"`((?:{objects})\.[a-z_.]+)", page.read_text("utf-8"))}

    assert len(named) > 20
    assert named - known == set()
