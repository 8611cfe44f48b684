"""Charts of the pages, as SVG: bars of money, histograms and lines. Styles are classes: a page allows no others."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from functions.cli.output.html import Html, element, together

_WIDE: Final = 1000
_HIGH: Final = 150
_COLOURS: Final = 7
_DASHES: Final = ("none", "8 4", "2 4")
JsonRow = Mapping[str, Any]


def _svg(parts: Iterable[Html], high: int, class_: str, label: str = "", *, wide: int = _WIDE) -> Html:
    seen = {"role": "img", "aria_label": label} if label else {"aria_hidden": "true"}
    return element("svg", *parts, viewBox=f"0 0 {wide} {high}", preserveAspectRatio="none", class_=class_, **seen)


def _box(class_: str, x: float, y: float, width: float, height: float) -> Html:
    return element("rect", class_=class_, x=f"{x:g}", y=f"{y:g}", width=f"{width:g}", height=f"{height:g}")


def bill(left: int, before: int, most: int, kinds: tuple[str, str] = ("remains", "saves"), least: int = 0) -> Html:
    """Draw what is left of an amount and what is saved, to the scale of `most`; `least` is a line."""
    stays, whole, bound = (round(_WIDE * each / most) for each in (left, before, least))
    parts = [_box(kinds[0], 0, 2, min(stays, whole), 16)] if whole else []
    if whole > stays:
        parts.append(_box(kinds[1], stays, 2, whole - stays, 16))
    if least:
        parts.append(element("line", class_="least", x1=str(bound), x2=str(bound), y1="0", y2="20",
                             vector_effect="non-scaling-stroke"))  # fmt: skip
    return _svg(parts, 20, "bill")


def weight(amount: int, most: int) -> Html:
    """Draw a thin line as long as the amount is large."""
    wide = max(round(_WIDE * amount / most) if most else 0, 1)
    return _svg((_box("", _WIDE - wide, 0, wide, 4),), 4, "weight")


def waterfall(steps: Sequence[JsonRow]) -> Html:
    """Draw what is left of the bill at each step."""
    most = max(1, *(max(each["cost"], each["from"]) for each in steps))
    summary = ". ".join(f"{each['title']}: {each['month']}" for each in steps)
    label = f"What is left of the bill a month. {summary}."
    return element("div", *(_step(each, most) for each in steps), class_="waterfall", role="img", aria_label=label)


def _step(step: JsonRow, most: int) -> Html:
    rest, bound = step["rung"] == "policy_at_rest", step["rung"] == "bound"
    sure = rest or step["rung"] == "autoscaler_alone"
    kinds = ("remains rest" if rest else "remains", "saves" if sure else "could")
    looks = "scenario strong" if rest else "scenario relaxed" if step["relaxed"] else "scenario"
    label, amount = element("span", step["title"], class_="label"), element("span", step["month"], class_="amount")
    whole = max(step["cost"], step["from"])
    picture = bill(0, 0, most, least=step["cost"]) if bound else bill(step["cost"], whole, most, kinds)
    return element("div", label, element("span", picture, class_="track"), amount, class_=looks)


def key(rows: Iterable[tuple[str, str]]) -> Html:
    """Return what colours mean: the class of each, and what it stands for."""
    made = (element("li", element("span", class_=look, aria_hidden="true"), title) for look, title in rows)
    return element("ul", *made, class_="legend", aria_label="Colours")


def histogram(bins: Sequence[JsonRow], shown: Mapping[str, str], most: int, label: str) -> Html:
    """Draw how many nodes lie in each tenth, a column for each of `shown`."""
    summary = "; ".join(
        f"{each['share']}: {', '.join(f'{each[key]} {title}' for key, title in shown.items())}"
        for each in bins
        if any(each[key] for key in shown)
    )
    columns = [part for at, each in enumerate(bins) for part in _tenth(at, [each[key] for key in shown], most)]
    floor = element("line", class_="floor", x1="0", x2="480", y1=f"{_HIGH + 20}", y2=f"{_HIGH + 20}")
    scale = (
        element("text", text, x=str(x), y=f"{_HIGH + 36}", text_anchor=side)
        for text, x, side in (("0%", 0, "start"), ("50%", 240, "middle"), ("100%", 480, "end"))
    )
    parts = together((*columns, floor, *scale))
    return element(
        "svg", parts, viewBox=f"0 0 480 {_HIGH + 40}", class_="histogram", role="img", aria_label=f"{label}. {summary}."
    )


def _tenth(at: int, numbers: Sequence[int], most: int) -> Iterator[Html]:
    for side, number in enumerate(numbers):
        if number:
            high = _HIGH * number / most
            x = 48 * at + 4 + 20 * side
            yield _box(("now", "at_rest")[side], x, _HIGH + 20 - high, 18, high)
            yield element("text", str(number), x=str(x + 9), y=f"{_HIGH + 16 - high:g}", text_anchor="middle")


def plot(series: JsonRow, title: str) -> tuple[Html, Html]:
    """Draw lines over one axis, and return what their colours mean and the chart."""
    wide, high, left, below = 800, 240, 56, 22
    most: float = max(1, *(float(value) for line in series["lines"] for value in line["values"]))
    last = len(series["x"]) - 1

    def x(place: int) -> float:
        return round(left + (wide - left - 8) * place / max(1, last), 1)

    def y(value: float) -> float:
        return round(8 + (high - below - 8) * (1 - value / most), 1)

    parts: list[Html] = []
    for value in (0, most / 2, most):
        level = {"y1": f"{y(value)}", "y2": f"{y(value)}"}
        parts.append(element("line", class_="floor", x1=str(left), x2=str(wide - 8), **level))
        parts.append(element("text", f"{round(value):,}", x=str(left - 8), y=f"{y(value) + 4}", text_anchor="end"))
    for number, line in enumerate(series["lines"]):
        points = " ".join(f"{x(at)},{y(value)}" for at, value in enumerate(line["values"]))
        parts.append(
            element("polyline", points=points, class_=f"w{number % _COLOURS}", stroke_dasharray=_DASHES[number % 3])
        )
    for at, side in ((0, "start"), (last // 2, "middle"), (last, "end")):
        parts.append(element("text", series["x"][at], x=str(x(at)), y=str(high - 4), text_anchor=side))
    label = f"{title}: {series['measured']}. The table has the figures."
    picture = element("svg", *parts, viewBox=f"0 0 {wide} {high}", class_="plot", role="img", aria_label=label)
    names = ((f"swatch w{number % _COLOURS}", line["name"]) for number, line in enumerate(series["lines"]))
    return key(names), element("figure", element("figcaption", series["measured"]), picture)
