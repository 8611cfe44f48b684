"""What people see of Ebb: one table of events, labels and fields, and all that is made from it.

`python -m infra.monitoring` writes what Terraform reads (infra/metrics.yaml, dashboard.json, fleet.yaml,
fleet-dashboard.json) and what people read: docs/events.md, the runbook of docs/run.md and the queries of
docs/review.md. Nothing that runs in the cloud imports this; tests hold it to what the functions write.
"""
