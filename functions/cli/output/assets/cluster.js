// The cluster before and after: a bar a node, stacked by workload, by pool and zone. Arrow keys go from bar to bar.

const NAMED = 7;
const MANY = 100;
const CROWD = 320;
const largest = workloads.filter((each) => !each.goes_with_its_node).sort((a, b) => b.cpu - a.cpu || a.place - b.place);
const layers = [{ name: "goes with its node (DaemonSets)", colour: "var(--stays)" }, ...largest.slice(0, NAMED).map((each, place) => ({ name: each.name, colour: `var(--w${place})`, workload: each })), { name: "all other workloads", colour: "var(--other)" }];
const layerOf = new Map(largest.slice(0, NAMED).map((each, place) => [each.place, place + 1]));

function layer(pod) {
  if (workloads[pod.workload].goes_with_its_node) return 0;
  return layerOf.get(pod.workload) ?? layers.length - 1;
}

function drawCluster() {
  const holder = body("cluster");
  const choice = element("select", { id: "measured" }, element("option", { value: "cpu" }, "CPU"), element("option", { value: "memory" }, "memory"));
  const picture = element("div", { class: nodes.length > CROWD ? "crowd" : nodes.length > MANY ? "many" : "" });
  const draw = () => picture.replaceChildren(...poolNames().map((name) => poolPicture(name, choice.value)));
  choice.addEventListener("change", draw);
  holder.append(element("div", { class: "controls" }, element("label", {}, "Bars show reserved", choice)), legend(), picture);
  draw();
}

function poolNames() {
  return [...new Set(nodes.map((each) => each.pool || ""))];
}

function zoneNames(list) {
  return [...new Set(list.map((each) => each.zone))].sort();
}

function legend() {
  const used = new Set(pods.map(layer));
  const items = layers.filter((_, place) => used.has(place)).map((each) => {
    const named = each.workload ? workloadButton(each.workload) : each.name;
    return element("li", {}, swatch(each.colour), named);
  });
  return element("ul", { class: "legend", "aria-label": "Colours" }, items);
}

function poolPicture(name, resource) {
  const own = nodes.filter((each) => (each.pool || "") === name);
  const left = own.filter((each) => !each.gone).length;
  const told = report.has_rest ? `${count(own.length, "node")} now, ${left.toLocaleString("en-US")} in steady state` : count(own.length, "node");
  const sides = [side("Now", own, resource, (node) => node.now, () => false)];
  if (report.has_rest) sides.push(side("Steady state", own, resource, (node) => node.rest, (node) => node.gone));
  return element("div", { class: "pool" }, element("h3", {}, name || "Nodes outside any pool", " ", element("span", {}, told)), element("div", { class: "sides" }, sides));
}

function side(title, own, resource, on, isGone) {
  const zones = zoneNames(own).map((zone) => {
    const there = own.filter((each) => each.zone === zone);
    const left = there.filter((each) => !isGone(each)).length;
    const bars = element("div", { class: "bars", role: "group", "aria-label": `${title}, ${zone || "no zone"}: ${count(left, "node")}. Arrow keys go from bar to bar.` }, there.map((node, place) => bar(node, on(node), resource, isGone(node), place)));
    bars.addEventListener("keydown", goAlong);
    return element("div", { class: "zone" }, bars, element("p", { class: "zone-name" }, `${zone || "no zone"}: ${left}`));
  });
  return element("div", { class: "side" }, element("h4", {}, title), element("div", { class: "zones" }, zones));
}

function bar(node, list, resource, gone, place) {
  const said = gone ? `${node.name}: gone` : `${node.name}: ${percent(requested(list, resource), node[resource])} reserved, ${count(list.length, "pod")}`;
  const style = gone ? {} : { "background-image": stack(list, resource, node[resource]) };
  return element("button", { type: "button", class: gone ? "bar gone" : "bar", title: said, "aria-label": said, tabindex: place ? -1 : 0, style, "data-node": node.place });
}

function stack(list, resource, offered) {
  const sums = layers.map(() => 0);
  for (const pod of list) sums[layer(pod)] += pod[resource];
  let at = 0;
  const stops = [];
  sums.forEach((sum, place) => {
    if (!sum || !offered) return;
    const to = Math.min(100, at + (100 * sum) / offered);
    stops.push(`${layers[place].colour} ${at}% calc(${to}% - 1px)`, `var(--paper) calc(${to}% - 1px) ${to}%`);
    at = to;
  });
  return stops.length ? `linear-gradient(to top, ${stops.join(", ")}, transparent ${at}%)` : "none";
}

function goAlong(event) {
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const bars = [...event.currentTarget.children];
  const at = bars.indexOf(document.activeElement);
  const to = event.key === "Home" ? 0 : event.key === "End" ? bars.length - 1 : at + (steps[event.key] || 0);
  if (at < 0 || to === at || !bars[to]) return;
  event.preventDefault();
  bars[at].tabIndex = -1;
  bars[to].tabIndex = 0;
  bars[to].focus();
}
