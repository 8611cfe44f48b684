# The policy's fields are compared with infra/policy.schema.json in policy_faults.tf: a type here would drop what it does not
# know, and a misspelt `enable` would leave its pool off without a word.

variable "policy" {
  description = "The policy, field by field as in docs/policy.md, which has the fields, their units and defaults. A field that is null is absent; one that does not exist is refused."
  type        = any
  nullable    = false
  default     = {}

  validation {
    condition     = can(keys(var.policy))
    error_message = "policy: write a mapping such as { nodePools = { default-pool = { enabled = true } } }; a policy in a file is policy_file."
  }
  validation {
    condition     = alltrue([for pool in try(values(var.policy.nodePools), []) : pool != null])
    error_message = "policy.nodePools: write {} for a pool that has all defaults; null is absent."
  }
}

variable "policy_file" {
  description = "Path of a policy in YAML or JSON, in place of `policy`; it is uploaded as it stands."
  type        = string
  default     = null

  validation {
    condition     = var.policy_file == null ? true : fileexists(var.policy_file)
    error_message = "policy_file: there is no such file; write a path from the folder in which terraform runs."
  }
  validation {
    condition     = var.policy_file == null ? true : !fileexists(var.policy_file) || can(keys(yamldecode(file(var.policy_file))))
    error_message = "policy_file: it is no YAML mapping; `ebb policy check FILE` shows where."
  }
}
