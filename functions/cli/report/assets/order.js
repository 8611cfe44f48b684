// Who goes, one after another.

const FIRST_ORDERS = 15;

function drawOrder() {
  const rows = objects(report.order).map((each) => ({ ...each, of: nodes[each.node] }));
  if (!rows.length) {
    body("order").append(element("p", {}, report.has_rest ? "No node goes." : "It is not known who goes."));
    return;
  }
  const columns = [
    { title: "", number: true, cell: (_, place) => place + 1 },
    { title: "node", heads: true, cell: (row) => nodeButton(row.of) },
    { title: "pool", cell: (row) => row.of.pool || "-" },
    { title: "zone", short: true, cell: (row) => row.of.zone || "-" },
    { title: "begins", short: true, cell: (row) => row.begins },
    { title: "by", short: true, cell: (row) => row.by },
    { title: "pods moved", number: true, cell: (row) => row.moves },
    { title: "saves a month", number: true, class: "good", cell: (row) => row.month },
  ];
  body("order").append(longTable(columns, rows, FIRST_ORDERS, { label: "The order of the plan", class: "order" }));
}
