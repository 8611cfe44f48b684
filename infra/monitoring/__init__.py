"""What people see of Ebb: one table of events, labels and fields, and all that is made from it.

`python -m infra.monitoring` writes what Terraform reads (infra/metrics.yaml, fleet.yaml) and parts of what people
read: docs/events.md, the alerts of docs/run.md and the queries of docs/review.md. Alerts and dashboards are kept as
Terraform reads them: alerts.yaml, dashboard.json, fleet-dashboard.json. Nothing that runs in the cloud imports this;
tests hold it to what the functions write.
"""
