# Each input in its full form.

output "alerts" {
  value = var.alerts
}

output "bucket" {
  value = var.bucket
}

output "build" {
  value = var.build
}

output "cluster" {
  value = var.cluster
}

output "database" {
  value = var.database
}

output "encryption" {
  value = var.encryption
}

output "functions" {
  value = var.functions
}

output "identities" {
  value = var.identities
}

output "network" {
  value = var.network
}

output "schedule" {
  value = var.schedule
}
