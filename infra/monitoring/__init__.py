"""What people see of Ebb: one table of events, labels and fields, and all that is made from it.

`python -m infra.monitoring` writes parts of what people read: docs/events.md and the alerts of docs/run.md. Metrics,
alerts, dashboards and what is of all clusters are kept as Terraform reads them: metrics.yaml, alerts.yaml,
dashboard.json, fleet.yaml, fleet-dashboard.json. Nothing that runs in the cloud imports this; tests hold it to what the
functions write.
"""
