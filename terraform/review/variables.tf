variable "dataset" {
  description = "A dataset of BigQuery that is made in the first project for summaries and missed savings, such as ebb_weeks; without one nothing is kept there."
  type        = string
  default     = null

  validation {
    condition     = var.dataset == null || can(regex("^[A-Za-z0-9_]+$", var.dataset))
    error_message = "dataset: write letters, digits and underscores, such as ebb_weeks."
  }
}

variable "dataset_location" {
  description = "Where it is made; it cannot be moved."
  type        = string
  nullable    = false
  default     = "EU"
}

variable "name" {
  description = "What the names of the metrics and queries begin with."
  type        = string
  nullable    = false
  default     = "ebb-fleet"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,29}$", var.name))
    error_message = "name: write at most 30 lower-case letters, digits and hyphens, a letter first, such as ebb-fleet."
  }
}

variable "projects" {
  description = "The projects in which Ebb runs. The dashboard and the queries are made in the first."
  type        = list(string)
  nullable    = false

  validation {
    condition     = length(var.projects) > 0 && length(distinct(var.projects)) == length(var.projects)
    error_message = "projects: write the ids of one or more projects, each once."
  }
}
