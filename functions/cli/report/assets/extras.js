// Sections that other commands add: sentences, a plot and its table.

function drawExtras() {
  report.extras.forEach((each, place) => {
    const made = element("section", { id: `extra-${place}` }, element("h2", {}, each.title), element("div", { class: "body" }));
    made.lastChild.append(...each.sentences.map((text) => element("p", { class: "lead" }, text)), ...(each.plot ? plot(each.plot, each.title) : []), extraTable(each));
    byId("extras").append(made);
  });
}

function extraTable(each) {
  const columns = each.table.columns.map((title, place) => ({ title, heads: place === 0, number: place > 0, cell: (row) => row[place] }));
  return tableOf(columns, each.table.rows, { label: each.title });
}

function plot(told, title) {
  const [wide, high, left, below] = [800, 240, 56, 22];
  const most = Math.max(1, ...told.lines.flatMap((line) => line.values));
  const x = (place) => left + ((wide - left - 8) * place) / Math.max(1, told.x.length - 1);
  const y = (value) => 8 + (high - below - 8) * (1 - value / most);
  const picture = drawn("svg", { viewBox: `0 0 ${wide} ${high}`, class: "plot", role: "img", "aria-label": `${title}: ${told.measured}. The table has the figures.` });
  for (const share of [0, 0.5, 1]) {
    picture.append(drawn("line", { x1: left, x2: wide - 8, y1: y(most * share), y2: y(most * share), stroke: "var(--line)" }));
    picture.append(drawn("text", { x: left - 8, y: y(most * share) + 4, "text-anchor": "end" }, Math.round(most * share).toLocaleString("en-US")));
  }
  told.lines.forEach((line, place) => {
    const points = line.values.map((value, at) => `${x(at)},${y(value)}`).join(" ");
    picture.append(drawn("polyline", { points, fill: "none", stroke: `var(--w${place % 7})`, "stroke-width": 2.5, "stroke-linejoin": "round", "stroke-dasharray": ["none", "8 4", "2 4"][place % 3] }));
  });
  [0, Math.floor((told.x.length - 1) / 2), told.x.length - 1].forEach((at, place) => {
    picture.append(drawn("text", { x: x(at), y: high - 4, "text-anchor": ["start", "middle", "end"][place] }, told.x[at]));
  });
  const key = told.lines.map((line, place) => element("li", {}, swatch(`var(--w${place % 7})`), line.name));
  return [element("ul", { class: "legend", "aria-label": "Colours" }, key), element("figure", {}, element("figcaption", {}, told.measured), picture)];
}

function drawn(tag, given, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(given)) made.setAttribute(name, String(value));
  made.textContent = text;
  return made;
}
