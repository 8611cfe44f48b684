// Elements of the page. Names of nodes and workloads come through here as text: nothing in this script makes markup of it.

function element(tag, given = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (name === "class") made.className = value;
    else if (name === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else if (name === "style") for (const [property, text] of Object.entries(value)) made.style.setProperty(property, text);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, String(value));
  }
  made.append(...children.flat().filter((each) => each !== null && each !== undefined && each !== false));
  return made;
}

function byId(id) {
  return document.getElementById(id);
}

function body(section) {
  return byId(section).querySelector(".body");
}

function count(number, thing) {
  return `${number.toLocaleString("en-US")} ${thing}${number === 1 ? "" : "s"}`;
}

function percent(part, whole) {
  return whole ? share(part / whole) : "-";
}

// Rounded down as everywhere else: a node just under its limit must not look as if at it.
function share(ratio) {
  return ratio === null ? "-" : `${Math.floor(100 * ratio + 1e-9)}%`;
}

// A table: columns are {title, cell, number}, where `cell` makes text or elements of a row.
function tableOf(columns, rows, given = {}) {
  const heads = columns.map((each) => element("th", { scope: "col", class: kindOf(each) }, each.title));
  const table = element("table", { class: given.class || "" }, element("thead", {}, element("tr", {}, heads)), element("tbody", {}, rows.map((row) => lineOf(columns, row))));
  return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": given.label }, table);
}

function lineOf(columns, row) {
  const cells = columns.map((each) => {
    const tag = each.heads ? "th" : "td";
    return element(tag, { class: kindOf(each), scope: each.heads ? "row" : null, "data-label": each.title }, each.cell(row));
  });
  return element("tr", {}, cells);
}

function kindOf(column) {
  return column.number ? "number" : column.short ? "short" : "";
}

// A long table of which the first rows are shown; the others come with a button.
function longTable(columns, rows, first, given = {}) {
  const shown = tableOf(columns, rows.slice(0, first), given);
  const holder = element("div", {}, shown);
  if (rows.length > first) {
    const more = element("button", { type: "button", class: "plain more" }, `Show all ${rows.length.toLocaleString("en-US")}`);
    more.addEventListener("click", () => {
      const whole = tableOf(columns, rows, given);
      holder.replaceChildren(whole);
      whole.focus();
    });
    holder.append(element("p", {}, more));
  }
  return holder;
}

function swatch(colour) {
  return element("span", { class: "swatch", style: { background: colour }, "aria-hidden": "true" });
}

// The data of the page: lists by column become objects once, and each thing knows what lies on it.

const plan = JSON.parse(byId("data").textContent);
const report = plan.report;

function objects(table) {
  return table.rows.map((row) => Object.fromEntries(table.columns.map((name, place) => [name, row[place]])));
}

const workloads = objects(report.workloads).map((each, place) => ({ ...each, place, pods: [], cpu: 0, memory: 0 }));
const nodes = objects(report.nodes).map((each, place) => ({ ...plan.nodes[place], ...each, place, now: [], rest: [] }));
const pods = objects(report.pods);

for (const pod of pods) {
  const workload = workloads[pod.workload];
  pod.key = `${workload.name.split("/")[0]}/${pod.name}`;
  workload.pods.push(pod);
  workload.cpu += pod.cpu;
  workload.memory += pod.memory;
  if (pod.node >= 0) nodes[pod.node].now.push(pod);
  if (pod.at_rest >= 0) nodes[pod.at_rest].rest.push(pod);
}

const podByKey = new Map(pods.map((pod) => [pod.key, pod]));

function requested(list, resource) {
  return list.reduce((sum, pod) => sum + pod[resource], 0);
}
