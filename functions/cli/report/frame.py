"""What every page that Ebb writes begins with: one file that asks nothing of any server.

Its own security policy allows one style, and one script or none, by their digests, and nothing else. Must not know
what a page shows.
"""

import base64
import hashlib
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Final

from functions.cli.visible import visible

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
