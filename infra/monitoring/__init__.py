"""What people see of Ebb: all that is made from the events of docs/events.md.

Metrics, alerts, dashboards and what is of all clusters are kept as Terraform reads them: metrics.yaml, alerts.yaml,
dashboard.json, fleet.yaml, fleet-dashboard.json. `python -m infra.monitoring` writes parts of what people read: metrics
and alerts of docs/events.md, the alerts of docs/run.md. Nothing that runs in the cloud imports this. tests/monitoring
reads the tables of events on that page, and holds everything here to what the functions write.
"""
