// A week of windows and budgets; a policy that is the same at all hours is told in a sentence.

function drawCalendar() {
  const told = report.calendar;
  const holder = body("calendar");
  const many = told.pools.some((each) => !each.always);
  holder.append(element("p", { class: "lead" }, `How many nodes may be in disruption at once${many ? `, by the hour in ${told.time_zone}` : ""}.`));
  for (const note of told.notes) holder.append(element("p", {}, note));
  for (const each of told.pools) holder.append(each.always ? always(each) : week(each));
  if (told.off.length) holder.append(element("p", {}, `Not enabled, so that no node of theirs ever goes: ${told.off.join(", ")}.`));
  if (!told.pools.length) holder.append(element("p", {}, "No pool is enabled."));
}

function always(each) {
  const [limit] = each.legend;
  return element("p", {}, element("b", {}, each.names.join(", ")), `: ${limit.nodes} at any hour (${limit.why}).`);
}

function week(each) {
  const hours = Array.from({ length: 12 }, (_, place) => element("th", { scope: "col", colspan: 2 }, String(2 * place).padStart(2, "0")));
  const lines = each.days.map((day) => element("tr", {}, element("th", { scope: "row", class: "day" }, day.day), day.runs.map(run)));
  const ruler = element("tr", {}, element("th", { class: "day", scope: "col" }, element("span", { class: "quiet" }, "hour")), hours);
  const cols = element("colgroup", {}, element("col", { class: "day" }), element("col", { span: 24 }));
  const table = element("table", { class: "week" }, cols, element("thead", {}, ruler), element("tbody", {}, lines));
  const key = each.legend.flatMap((limit) => [element("dt", {}, limit.letter), element("dd", {}, limit.nodes), element("dd", {}, limit.why)]);
  const name = `${each.names.length === 1 ? "Pool" : "Pools"} ${each.names.join(", ")}`;
  return element("div", {}, element("h3", {}, name), element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, table), element("dl", { class: "key" }, key));
}

function run(each) {
  if (!each.letter) return element("td", { colspan: each.hours, class: "skipped" });
  const text = each.hours > 1 ? `${each.nodes} ${each.letter}` : each.letter;
  return element("td", { colspan: each.hours, class: each.none ? "none" : "" }, each.changes ? `${text}*` : text);
}
