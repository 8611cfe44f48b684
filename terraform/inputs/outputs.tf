output "all" {
  description = "Every input in its full form."
  value       = var.input
}
