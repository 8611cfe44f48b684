// The look-up: a word, a pool and a verdict choose among nodes; the word alone among workloads. A pod's name finds both.

const FIRST_FOUND = 12;

function drawLookUp() {
  const word = element("input", { type: "search", id: "word", autocomplete: "off", spellcheck: "false" });
  const pool = choiceOf("all pools", poolNames().filter(Boolean));
  const verdict = choiceOf("all verdicts", [...new Set(nodes.map((each) => each.verdict))]);
  const found = element("div", { id: "found" });
  const said = element("p", { class: "quiet", id: "found-count", role: "status" });
  const search = () => showFound(found, said, word.value.trim().toLowerCase(), pool.value, verdict.value);
  for (const control of [word, pool, verdict]) control.addEventListener("input", search);
  const controls = element("div", { class: "controls" }, element("label", { class: "wide" }, "Name of a node, a workload or a pod, a zone, a machine or a reason", word), element("label", {}, "Pool", pool), element("label", {}, "Verdict", verdict));
  body("look-up").append(controls, said, found);
  search();
}

function choiceOf(all, names) {
  return element("select", {}, element("option", { value: "" }, all), names.map((name) => element("option", { value: name }, name)));
}

function showFound(found, said, word, pool, verdict) {
  const named = word ? pods.filter((pod) => pod.key.toLowerCase().includes(word)) : [];
  const byPodNode = new Set(named.map((pod) => pod.node));
  const byPodWorkload = new Set(named.map((pod) => pod.workload));
  const someNodes = nodes.filter((each) => (!pool || each.pool === pool) && (!verdict || each.verdict === verdict) && (!word || byPodNode.has(each.place) || says(each, word)));
  const someWorkloads = workloads.filter((each) => !word || byPodWorkload.has(each.place) || each.name.toLowerCase().includes(word)).sort((a, b) => b.cpu - a.cpu);
  said.textContent = `${count(someNodes.length, "node")} and ${count(someWorkloads.length, "workload")} found.`;
  found.replaceChildren(element("h3", {}, "Nodes"), longTable(nodeColumns(), someNodes, FIRST_FOUND, { label: "Nodes found", class: "found-nodes" }), element("h3", {}, "Workloads"), longTable(workloadColumns(), someWorkloads, FIRST_FOUND, { label: "Workloads found", class: "found-workloads" }));
}

function says(node, word) {
  return [node.name, node.zone, node.machine, node.reason].some((text) => (text || "").toLowerCase().includes(word));
}

function nodeColumns() {
  const columns = [
    { title: "node", heads: true, cell: nodeButton },
    { title: "pool", cell: (node) => node.pool || "-" },
    { title: "zone", short: true, cell: (node) => node.zone || "-" },
    { title: "CPU", number: true, cell: (node) => share(node.cpu_ratio) },
    { title: "memory", number: true, cell: (node) => share(node.memory_ratio) },
    ...(report.has_money ? [{ title: "a month", number: true, cell: (node) => node.month }] : []),
    { title: "verdict", short: true, cell: (node) => node.verdict },
    { title: "reason", cell: (node) => node.reason },
  ];
  return report.has_rest ? [...columns, { title: "steady state", short: true, cell: (node) => (node.gone ? element("span", { class: "good" }, "gone") : "stays") }] : columns;
}

function workloadColumns() {
  return [
    { title: "workload", heads: true, cell: workloadButton },
    { title: "pods", number: true, cell: (each) => each.pods.length.toLocaleString("en-US") },
    { title: "nodes", number: true, cell: (each) => new Set(each.pods.map((pod) => pod.node)).size.toLocaleString("en-US") },
    { title: "CPU", number: true, cell: (each) => cores(each.cpu) },
    { title: "GiB", number: true, cell: (each) => gibibytes(each.memory) },
    { title: "nodes it keeps", number: true, cell: (each) => (each.keeps ? each.keeps.toLocaleString("en-US") : "-") },
    ...(report.has_money ? [{ title: "they cost a month", number: true, cell: (each) => (each.keeps ? each.month : "-") }] : []),
  ];
}

// Draw what can be chosen and searched; switch between dark and light; open what is folded before the page is printed.

function switchTheme() {
  const root = document.documentElement;
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  const button = byId("theme");
  const use = (theme) => {
    root.dataset.theme = theme;
    button.textContent = theme === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", theme === "dark" ? "Use light colours" : "Use dark colours");
  };
  let chosen = "";
  const follow = () => use(chosen || (prefersDark.matches ? "dark" : "light"));
  prefersDark.addEventListener("change", follow);
  button.addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    follow();
  });
  window.addEventListener("beforeprint", () => use("light"));
  window.addEventListener("afterprint", follow);
  follow();
}

function openForPrint() {
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("main details:not([open])")];
    for (const each of folded) each.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const each of folded) each.open = false;
  });
}

switchTheme();
drawCluster();
drawLookUp();
document.addEventListener("click", openNamed);
openForPrint();
document.documentElement.dataset.drawn = "yes";
