variable "admission" {
  description = "Whether the fence around the drainer's identity is made, too (infra/admission.yaml). It needs Kubernetes 1.30 and a plan that reaches the cluster; with false apply it by `kubectl` from the module's output `rbac`."
  type        = bool
  nullable    = false
  default     = true
}

variable "drainer" {
  description = "The e-mail address of the drainer's service account: the output `identities.drainer` of the module above."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[^@ ]+@[^@ ]+$", var.drainer))
    error_message = "drainer: write the e-mail address of the drainer's service account."
  }
}

variable "planner" {
  description = "The e-mail address of the planner's service account: the output `identities.planner` of the module above."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[^@ ]+@[^@ ]+$", var.planner))
    error_message = "planner: write the e-mail address of the planner's service account."
  }
}
