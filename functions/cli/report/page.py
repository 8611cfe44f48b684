"""The report's page: one HTML file with embedded data, styles and scripts."""

import base64
import hashlib
import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any, Final

from functions.cli.output.visible import visible, visible_values

_POLICY: Final = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src {style}"
_AND_SCRIPT: Final = "; script-src {script}"


def head(title: str, style: str, script: str = "") -> str:
    """Return all of a page before its body."""
    policy = _POLICY.format(style=_digest(style)) + (_AND_SCRIPT.format(script=_digest(script)) if script else "")
    return filled(asset("head.html"), {"policy": escape(policy), "title": escape(visible(title)), "style": style})


def _digest(text: str) -> str:
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
