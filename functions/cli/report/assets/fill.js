// How full nodes are: two histograms, each with its table.

function drawFill() {
  const most = Math.max(1, ...report.fill.flatMap((each) => each.bins.flatMap((bin) => [bin.now, bin.at_rest])));
  const marks = [element("li", {}, swatch("var(--left)"), "now")];
  if (report.has_rest) marks.push(element("li", {}, swatch("var(--saved)"), "at rest"));
  body("fill").append(element("ul", { class: "legend", "aria-label": "Colours" }, marks));
  body("fill").append(element("div", { class: "pair" }, report.fill.map((each) => histogram(each, most))));
}

function histogram(told, most) {
  const tenths = told.bins.map((bin) => element("div", { class: "tenth" }, column(bin.now, most, "now"), report.has_rest ? column(bin.at_rest, most, "rest") : null));
  const said = told.bins.filter((bin) => bin.now || bin.at_rest).map((bin) => `${bin.share}: ${bin.now} now, ${bin.at_rest} at rest`);
  const columns = [
    { title: "reserved", heads: true, cell: (bin) => bin.share },
    { title: "nodes now", number: true, cell: (bin) => bin.now },
  ];
  if (report.has_rest) columns.push({ title: "nodes at rest", number: true, cell: (bin) => bin.at_rest });
  return element(
    "figure",
    {},
    element("figcaption", {}, `Nodes by reserved ${told.resource}`),
    element("div", { class: "histogram", role: "img", "aria-label": `Nodes by reserved ${told.resource}. ${said.join("; ")}.` }, tenths),
    element("div", { class: "scale", "aria-hidden": "true" }, element("span", {}, "0%"), element("span", {}, "50%"), element("span", {}, "100%")),
    asTable(columns, told.bins, { label: `Nodes by reserved ${told.resource}`, class: "tenths" }),
  );
}

function column(number, most, kind) {
  return element("span", {}, number ? element("b", {}, number) : null, element("i", { class: kind, style: { height: `${(150 * number) / most}px` } }));
}
