"""The page: frame, style, script and data in one file, which asks nothing of any server.

The data is JSON in an element that is never run, without any `<`; the script writes text, never markup; and the page's
own security policy allows that one script by its digest and nothing else. Must not know what the data means.
"""

import base64
import hashlib
import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any, Final

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
_POLICY: Final = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src {style}; script-src {script}"


def page(document: Mapping[str, Any]) -> str:
    """Return the report as HTML."""
    style, script = asset("report.css"), _script()
    document = visible_values(dict(document))
    report = document["report"]
    return filled(
        asset("report.html"),
        {
            "policy": escape(_POLICY.format(style=digest(style), script=digest(script))),
            "title": escape(f"{report['title']} - {document['cluster'] or 'cluster'}"),
            "headline": escape(report["headline"]),
            "style": style,
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


def digest(text: str) -> str:
    """Return the word by which a security policy allows a piece of the page."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def filled(template: str, parts: Mapping[str, str]) -> str:
    """Return the template with each `{{name}}` replaced, once, so that no part is looked into for another's name."""
    pieces = template.split("{{")
    found = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}}")
        found += [parts[name], rest]
    return "".join(found)


def asset(name: str) -> str:
    """Return one of the package's own files."""
    return (files("functions.cli.report.assets") / name).read_text(encoding="utf-8")


def _script() -> str:
    """Return the parts in one function of their own, strict, and after the page is there."""
    body = "\n".join(map(asset, SCRIPTS))
    return f'(() => {{\n"use strict";\n{body}\n}})();\n'
