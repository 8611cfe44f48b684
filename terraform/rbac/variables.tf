variable "admission" {
  description = "Whether the admission policies for the drainer's identity are made, too (infra/admission.yaml). They need Kubernetes 1.30 and a plan that reaches the cluster; with false apply them by `kubectl` from the module's output `rbac`."
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

variable "optional_rights" {
  description = "The extra rights to make, by name, each with its admission policy. steer: write deletion costs on pods (`steerScaleIn: true`). surge: restart a Deployment (`singleReplicas: surge`)."
  type        = set(string)
  nullable    = false
  default     = []

  validation {
    condition     = length(setsubtract(var.optional_rights, ["steer", "surge"])) == 0
    error_message = "optional_rights: write some of steer and surge."
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
