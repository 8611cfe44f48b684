"""What people see of Ebb: one table of events, labels and fields, and all that is made from it.

`python -m infra.monitoring` writes infra/metrics.yaml, alerts.yaml and dashboard.json, which Terraform reads, and
docs/events.md and the runbook of docs/operations.md, which people do. Nothing that runs in the cloud imports this;
tests hold it to what the functions write.
"""
