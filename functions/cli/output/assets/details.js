// All about one node or one workload, in a dialog that Escape closes.

function nodeButton(node) {
  return element("button", { type: "button", class: "name", "data-node": node.place }, node.name);
}

function workloadButton(workload) {
  return element("button", { type: "button", class: "name", "data-workload": workload.place }, workload.name);
}

// Whatever names a node or a workload opens it, also where the page was written without this script.
function openNamed(event) {
  const chosen = event.target.closest("[data-node], [data-workload]");
  if (!chosen) return;
  if (chosen.dataset.node) showNode(nodes[chosen.dataset.node]);
  else showWorkload(workloads[chosen.dataset.workload]);
}

function showNode(node) {
  const facts = [
    ["pool", [node.pool || "none", node.machine, node.zone, node.spot ? "spot" : ""].filter(Boolean).join(", ")],
    ...(report.has_money ? [["costs", `${node.month} a month${report.added?.list ? " at list prices" : ""}`]] : []),
    ["reserved", `CPU ${share(node.cpu_ratio)}, memory ${share(node.memory_ratio)}`],
    ["verdict", [node.verdict, node.reason, node.when].filter(Boolean).join(", ")],
  ];
  if (report.has_rest) facts.push(["steady state", node.gone ? `gone; ${count(node.moves, "pod")} moved` : `still there, with ${count(node.rest.length, "pod")}`]);
  const columns = [
    { title: "pod", heads: true, cell: (pod) => pod.name },
    { title: "of", cell: (pod) => workloadButton(workloads[pod.workload]) },
    ...amounts(),
    ...(report.has_rest ? [{ title: "in steady state on", cell: placeAtRest }] : []),
  ];
  show(node.name, facts, causes(node.blockers), longTable(columns, node.now, 40, { label: `Pods of ${node.name}` }));
}

function showWorkload(workload) {
  const on = new Set(workload.pods.map((pod) => pod.node));
  const facts = [
    ["pods", `${workload.pods.length.toLocaleString("en-US")} on ${count(on.size, "node")}`],
    ["reserves", `${cores(workload.cpu)} CPU, ${gibibytes(workload.memory)} GiB of memory`],
  ];
  if (workload.keeps) facts.push(["keeps", `${count(workload.keeps, "node")}${report.has_money ? ` of ${workload.month} a month` : ""}, some perhaps with others`]);
  const columns = [
    { title: "pod", heads: true, cell: (pod) => pod.name },
    { title: "on", cell: (pod) => (pod.node >= 0 ? nodeButton(nodes[pod.node]) : "no node yet") },
    ...amounts(),
    ...(report.has_rest ? [{ title: "in steady state on", cell: placeAtRest }] : []),
  ];
  show(workload.name, facts, causes(blockersOf(workload)), longTable(columns, workload.pods, 40, { label: `Pods of ${workload.name}` }));
}

function amounts() {
  return [
    { title: "CPU", number: true, cell: (pod) => cores(pod.cpu) },
    { title: "GiB", number: true, cell: (pod) => gibibytes(pod.memory) },
  ];
}

function cores(millicores) {
  return (millicores / 1000).toLocaleString("en-US", { maximumFractionDigits: 2 });
}

function gibibytes(mebibytes) {
  return (mebibytes / 1024).toLocaleString("en-US", { maximumFractionDigits: 2 });
}

function placeAtRest(pod) {
  if (pod.at_rest < 0) return pod.node < 0 ? "no node yet" : "goes with its node";
  return pod.at_rest === pod.node ? "stays" : nodeButton(nodes[pod.at_rest]);
}

function blockersOf(workload) {
  const own = new Set(workload.pods.map((pod) => pod.key));
  const on = new Set(workload.pods.filter((pod) => pod.node >= 0).map((pod) => pod.node));
  return [...on].flatMap((place) => nodes[place].blockers.filter((each) => own.has(each.object)));
}

function causes(all) {
  // That a pod keeps a node says nothing beside what the pod is kept by.
  const telling = all.filter((each) => each.reason !== "blocked_by_pod");
  const blockers = telling.length ? telling : all;
  if (!blockers.length) return [];
  const items = blockers.slice(0, 60).map((each) => {
    const known = report.reasons[each.reason] || { sentence: "", remedy: "" };
    const about = [each.object, each.detail].filter(Boolean).join(": ");
    return element("li", {}, element("b", {}, known.sentence), " ", element("code", { class: "quiet" }, each.reason), known.remedy ? element("span", { class: "remedy" }, known.remedy) : null, about ? element("span", { class: "about" }, about) : null);
  });
  return [element("h3", {}, "What keeps it"), element("ul", { class: "causes" }, items)];
}

function show(title, facts, reasons, list) {
  const dialog = byId("details");
  const close = element("button", { type: "button", class: "plain", autofocus: true, on: { click: () => dialog.close() } }, "Close");
  const told = facts.flatMap(([word, text]) => [element("dt", {}, word), element("dd", {}, text)]);
  dialog.replaceChildren(element("header", {}, element("h2", { id: "details-title" }, title), close), element("dl", { class: "fact" }, told), ...reasons, element("h3", {}, "Its pods"), list);
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  close.focus();
}
