"""Simulated days as an SVG: the nodes over time, one line for each run. Names are data, never markup."""

from datetime import timedelta
from html import escape
from typing import Final

from functions.cli.output.visible import visible
from functions.cli.simulate.view import DaysView, PlayedDay

_WIDTH, _HEIGHT = 860, 320
_LEFT, _TOP, _RIGHT, _BOTTOM = 52, 20, 36, 56
_COLOURS: Final = ("#6b7280", "#0f766e", "#b45309", "#7c3aed", "#be123c")
_FONT: Final = 'font-family="system-ui, sans-serif" font-size="13"'
_POINTS: Final = 288


def drawn(view: DaysView) -> str:
    """Return the SVG."""
    most = max(max(view.points(run, _POINTS)) for run in view.runs)
    lines = [_line(view, run, most, place) for place, run in enumerate(view.runs)]
    names = [_name(run, place) for place, run in enumerate(view.runs)]
    height = _HEIGHT + 22 * len(view.runs)
    return "\n".join((
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" {_FONT}>',
        f"<title>Nodes over {view.days} days</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        *_axes(view, most),
        *lines,
        *names,
        "</svg>\n",
    ))  # fmt: skip


def _x(share: float) -> float:
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def _y(nodes: float, most: int) -> float:
    return _HEIGHT - _BOTTOM - nodes / max(most, 1) * (_HEIGHT - _TOP - _BOTTOM)


def _axes(view: DaysView, most: int) -> list[str]:
    found: list[str] = []
    for part in range(5):
        nodes = most * part / 4
        found.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{_y(nodes, most):.1f}" y2="{_y(nodes, most):.1f}" '
            f'stroke="#e5e7eb"/><text x="{_LEFT - 8}" y="{_y(nodes, most) + 4:.1f}" text-anchor="end" '
            f'fill="#374151">{nodes:.0f}</text>'
        )
    ticks = 8 if view.days == 1 else min(view.days, 14)
    for tick in range(ticks + 1):
        at = view.begins + timedelta(days=tick * view.days / ticks)
        label = f"{at:%H:%M}" if view.days == 1 else f"{at:%a %d}"
        found.append(
            f'<text x="{_x(tick / ticks):.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle" '
            f'fill="#374151">{label}</text>'
        )
    return found


def _line(view: DaysView, run: PlayedDay, most: int, place: int) -> str:
    points = view.points(run, _POINTS)
    path: list[str] = []
    for number, nodes in enumerate(points):
        x, y = _x(number / _POINTS), _y(nodes, most)
        path.append(f"M{x:.1f} {y:.1f}" if not path else f"H{x:.1f}V{y:.1f}")
    path.append(f"H{_x(1):.1f}")
    return f'<path d="{"".join(path)}" fill="none" stroke="{_COLOURS[place % len(_COLOURS)]}" stroke-width="2"/>'


def _name(run: PlayedDay, place: int) -> str:
    y, colour = _HEIGHT - 12 + 22 * place, _COLOURS[place % len(_COLOURS)]
    text = f"{run.name}: {run.outcome.node_hours:,.0f} node-hours, {run.outcome.evictions:,} evictions"
    return (
        f'<rect x="{_LEFT}" y="{y - 9}" width="18" height="4" fill="{colour}"/>'
        f'<text x="{_LEFT + 26}" y="{y - 2}" fill="#111827">{escape(visible(text))}</text>'
    )
