output "dashboard" {
  description = "The address of the dashboard over all clusters."
  value       = "https://console.cloud.google.com/monitoring/dashboards/builder/${reverse(split("/", google_monitoring_dashboard.fleet.id))[0]}?project=${local.first}"
}

output "queries" {
  description = "Two queries for BigQuery: nodes and money by week, and reasons by week."
  value = var.dataset == null ? {} : {
    for file in fileset("${path.module}/queries", "*.sql") :
    trimsuffix(file, ".sql") => templatefile("${path.module}/queries/${file}", { table = local.table })
  }
}
