"""The page: frame, style, script and data in one file, which asks nothing of any server.

The data is JSON in an element that is never run, without any `<`; the script writes text, never markup (`frame` lets
that one script run and no other). Must not know what the data means.
"""

import json
from collections.abc import Mapping
from html import escape
from typing import Any, Final

from functions.cli.report.frame import asset, filled, head
from functions.cli.visible import visible_values

SCRIPTS: Final = (
    "elements.js",
    "data.js",
    "money.js",
    "cluster.js",
    "fill.js",
    "calendar.js",
    "order.js",
    "details.js",
    "look_up.js",
    "extras.js",
    "page.js",
)
"""In the order in which they stand in the page."""


def page(document: Mapping[str, Any]) -> str:
    """Return the report as HTML."""
    style, script = asset("report.css"), _script()
    document = visible_values(dict(document))
    report = document["report"]
    return filled(
        asset("report.html"),
        {
            "head": head(f"{report['title']} - {document['cluster'] or 'cluster'}", style, script),
            "headline": escape(report["headline"]),
            "script": script,
            "data": harmless(document),
        },
    )


def harmless(document: Mapping[str, Any]) -> str:
    """Return JSON that no name can end: without `<`, `>` and `&`, and without what JavaScript takes for a new line."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _script() -> str:
    """Return the parts in one function of their own, strict, and after the page is there."""
    body = "\n".join(map(asset, SCRIPTS))
    return f'(() => {{\n"use strict";\n{body}\n}})();\n'
