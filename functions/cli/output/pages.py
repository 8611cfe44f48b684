"""Pages to send on, filled by Jinja2 from assets/: all text of values is escaped and visible here, and only here."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from functions.cli.output.visible import visible

if TYPE_CHECKING:
    from jinja2 import Environment

_FRAMED: Final = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src {style}"


def write_page(template: str, values: Mapping[str, Any], scripts: Sequence[str] = ()) -> str:
    """Return one file with its own style and scripts, which loads nothing from any server."""
    from markupsafe import Markup

    style, body = asset("page.css"), "\n".join(map(asset, scripts))
    script = f'(() => {{\n"use strict";\n{body}\n}})();\n' if scripts else ""
    # What stands in the page is allowed by its digest: a script that a name brought in would not run.
    policy = _FRAMED.format(style=_digest(style)) + (f"; script-src {_digest(script)}" if script else "")
    own = {"policy": policy, "style": Markup(style), "script": Markup(script)}  # noqa: S704 - our own files
    return _engine().get_template(template).render(values, **own)


@cache
def _engine() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    engine = Environment(
        loader=PackageLoader("functions.cli.output", "assets"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible_text,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # As JSON always is here; the engine writes `<`, `>`, `&` and `'` so that no name ends the element around it.
    engine.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    return engine


def _visible_text(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def asset(name: str) -> str:
    return (files("functions.cli.output.assets") / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
