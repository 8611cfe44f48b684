// The ladder as a waterfall with its table, and what keeps nodes, by money.

function drawHead() {
  byId("kicker").append(element("b", {}, plan.cluster || "A cluster"), `, as it was on ${report.seen_at}`);
  byId("title").textContent = report.title;
  byId("made-by").textContent = `Made by ${report.made_by} from a picture of ${report.seen_at}. This page is one file and asks nothing of any server.`;
  for (const each of report.figures) {
    const value = element("dd", { class: each.good ? "value good" : "value" }, each.value);
    byId("figures").append(element("div", {}, element("dt", {}, each.label), value, element("dd", { class: "note" }, each.note)));
  }
  const warnings = report.notes.filter(warns);
  byId("warnings").hidden = warnings.length === 0;
  byId("warnings").append(...warnings.map((note) => element("p", { class: "warning" }, note)));
  byId("figures").hidden = report.figures.length === 0;
}

function warns(note) {
  return note.startsWith("warning: ");
}

function drawLadder() {
  const holder = body("ladder");
  if (report.ladder.length) holder.append(waterfall(report.ladder), ladderTable());
  for (const sentence of report.sentences) holder.append(element("p", { class: "quiet" }, sentence));
  holder.append(element("h3", {}, "By node pool"), poolTable());
}

function waterfall(rungs) {
  const most = Math.max(1, ...rungs.map((each) => Math.max(each.cost, each.from)));
  const rows = rungs.map((each) => {
    const kind = each.relaxed ? "rung relaxed" : each.rung === "policy_at_rest" ? "rung strong" : "rung";
    return element("div", { class: kind }, element("span", { class: "label" }, each.title), track(each, most), element("span", { class: "amount" }, each.month));
  });
  const said = rungs.map((each) => `${each.title}: ${each.month}`).join(". ");
  return element("div", { class: "waterfall", role: "img", "aria-label": `What is left of the bill a month. ${said}.` }, rows);
}

function track(rung, most) {
  const wide = (amount) => `${(100 * amount) / most}%`;
  const low = Math.min(rung.cost, rung.from);
  const gap = Math.abs(rung.from - rung.cost);
  const sure = rung.rung === "autoscaler_alone" || rung.rung === "policy_at_rest";
  const remains = element("i", { class: `remains${rung.rung === "policy_at_rest" ? " rest" : ""}`, style: { width: wide(rung.cost) } });
  const saves = element("i", { class: sure ? "saves" : "could", style: { left: wide(low), width: wide(gap) } });
  return element("span", { class: "track" }, remains, gap && rung.rung !== "now" && rung.cost < rung.from ? saves : null);
}

function ladderTable() {
  const columns = [
    { title: "", heads: true, cell: (each) => each.title },
    { title: "nodes", number: true, cell: (each) => each.nodes },
    { title: "a month", number: true, cell: (each) => each.month },
    { title: "a year", number: true, cell: (each) => each.year },
    { title: "change a month", number: true, class: "good", cell: (each) => each.saved },
    { title: "evictions a node", number: true, cell: (each) => each.evictions },
  ];
  return tableOf(columns, report.ladder, { label: "The ladder in figures", class: "ladder", rowClass: (each) => (each.relaxed ? "relaxed" : each.rung === "policy_at_rest" ? "sum" : "") });
}

function poolTable() {
  const columns = [
    { title: "pool", heads: true, cell: (each) => each.name || "(none)" },
    { title: "nodes", number: true, cell: (each) => each.nodes.toLocaleString("en-US") },
    { title: "CPU", number: true, cell: (each) => each.cpu },
    { title: "memory", number: true, cell: (each) => each.memory },
    { title: "a month", number: true, cell: (each) => each.month },
  ];
  if (report.has_rest) {
    columns.push({ title: "nodes that go", number: true, cell: (each) => (each.goes ? each.goes.toLocaleString("en-US") : "-") });
    columns.push({ title: "saved a month", number: true, class: "good", cell: (each) => (each.goes ? each.saved : "-") });
  }
  return tableOf(columns, report.pools, { label: "The node pools", class: "pools", rowClass: (each) => (each.sum ? "sum" : "") });
}

function drawBlockers() {
  const most = Math.max(1, ...report.blockers.flatMap((each) => each.rows.map((row) => row.cost)));
  for (const each of report.blockers) {
    const columns = [
      { title: "holds a month", number: true, class: "money", cell: (row) => [row.month, element("span", { class: "weight", "aria-hidden": "true", style: { width: `${(100 * row.cost) / most}%` } })] },
      { title: "nodes", number: true, class: "nodes", cell: (row) => row.nodes.toLocaleString("en-US") },
      { title: "why, and what to do", cell: cause },
    ];
    body("blockers").append(element("h3", {}, each.title), tableOf(columns, each.rows, { label: each.title, class: "blockers" }));
  }
  if (!report.blockers.length) body("blockers").append(element("p", {}, "Nothing keeps a node."));
}

function cause(row) {
  const about = row.about ? element("span", { class: "about" }, row.about) : null;
  const remedy = row.remedy ? element("span", { class: "remedy" }, row.remedy) : null;
  return [element("span", { class: "sentence" }, row.sentence, " ", element("code", { class: "quiet" }, row.reason)), remedy, about];
}
