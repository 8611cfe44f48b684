"""A fault's path leads to the line where a person has to write."""

from functions.cli.input.files import line_of, lines_of
from shared.core.policy.values import MOST_POLICY_BYTES
from tests.depth import cases

DOCUMENT = b"""dryRun: true
nodePools:
  a:
    enabled: true
    disruption:
      budgets:
        - {nodes: 1}
        - nodes: 2
  "b.c": {enabled: true,
    headroom: 5%}
"""
JSON = b'{\n  "cluster": {\n    "timeGap": "soon"\n  }\n}'


@cases(
    "expected, sentence, document",
    ("a field at the top", 1, "dryRun: value 5 is wrong; write true.", DOCUMENT),
    ("a field of a pool", 4, "nodePools.a.enabled: value", DOCUMENT),
    ("in a list, on one line", 7, "nodePools.a.disruption.budgets[0].nodes: value", DOCUMENT),
    ("in a list", 8, "nodePools.a.disruption.budgets[1].nodes: value", DOCUMENT),
    ("a missing field", 8, "nodePools.a.disruption.budgets[1].schedule: it is missing", DOCUMENT),
    ("what should hold it", 3, "nodePools.a.minimumNodes: there is no", DOCUMENT),
    ("a name with a dot", 10, "nodePools.b.c.headroom: value", DOCUMENT),
    ("what is nowhere", None, "cluster.timeGap: value", DOCUMENT),
    ("JSON", 3, "cluster.timeGap: value", JSON),
    ("a document that cannot be read", None, "dryRun: value", b"a: ["),
    ("no text", None, "dryRun: value", b"\xff"),
    ("an anchor", 1, "a[0]: value", b"a: &x [1]\nb: *x"),
)
def test_the_line_of_a_fault(expected: int | None, sentence: str, document: bytes) -> None:
    assert line_of(sentence, lines_of(document)) == expected


def test_anchors_that_write_out_to_a_flood_cost_nothing() -> None:
    document = "a: &a [x]\n" + "".join(
        f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(20)
    )
    assert len(lines_of(document.encode())) < 500


def test_of_what_is_too_large_to_be_read_no_lines_are_looked_for() -> None:
    """To find them in a dump of a large cluster took twenty seconds."""
    assert lines_of(b"dryRun: true\n" + b"#" * MOST_POLICY_BYTES) == {}
