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
