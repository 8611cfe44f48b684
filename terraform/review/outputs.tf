output "dashboard" {
  description = "The address of the dashboard over all clusters."
  value       = "https://console.cloud.google.com/monitoring/dashboards/builder/${reverse(split("/", google_monitoring_dashboard.fleet.id))[0]}?project=${local.first}"
}
