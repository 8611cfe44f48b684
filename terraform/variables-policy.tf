# The fields have the names of docs/policy.md, which explains each with its unit and default; a field left out or null
# is absent from the document. A test holds this type against infra/policy.schema.json.

variable "policy" {
  description = "The policy, field by field as in docs/policy.md. Terraform silently drops a field that it does not know: look at the output `policy`, or write policy_file instead."
  type = object({
    dryRun = optional(bool)
    paused = optional(bool)
    cluster = optional(object({
      minimumNodes           = optional(number)
      minimumNonTaintedNodes = optional(number)
      timeSinceLastAddition  = optional(string)
      timeGap                = optional(string)
      disruption = optional(object({
        budgets = optional(list(object({
          nodes    = string
          reasons  = optional(list(string))
          schedule = optional(string)
          duration = optional(string)
          timeZone = optional(string)
        })))
      }))
      rate = optional(object({
        nodes = string
        per   = string
      }))
      evictionsPerNamespace = optional(object({
        pods = number
        per  = string
      }))
      freezes = optional(list(object({
        timeZone = optional(string)
        from     = string
        to       = string
      })))
    }))
    drain = optional(object({
      maxGracePeriod = optional(string)
      timeout        = optional(string)
      watchdog       = optional(string)
      pendingGrace   = optional(string)
      backoff = optional(object({
        first = optional(string)
        most  = optional(string)
      }))
      maxParallelEvictions = optional(number)
    }))
    manual = optional(object({
      mayIgnore = optional(list(string))
    }))
    defaults = optional(object({
      enabled                                 = optional(bool)
      scaleDownCPURequestRatioLimit           = optional(number)
      scaleDownMemoryRequestRatioLimit        = optional(number)
      scaleDownRequiredUnderutilizedNodeCount = optional(number)
      minimumNodeAge                          = optional(string)
      excessNodesThreshold                    = optional(number)
      maxNodesPerPass                         = optional(number)
      headroom                                = optional(string)
      kubeSystemPods                          = optional(string)
      localStorage                            = optional(string)
      longGrace                               = optional(string)
      unprotected                             = optional(string)
      singleReplicas                          = optional(string)
      jobs                                    = optional(string)
      minimumPodAge                           = optional(string)
      ignoreTaints                            = optional(list(string))
      timeSinceLastAddition                   = optional(string)
      rate = optional(object({
        nodes = string
        per   = string
      }))
      disruption = optional(object({
        consolidationPolicy = optional(string)
        consolidateAfter    = optional(string)
        expireAfter         = optional(string)
        budgets = optional(list(object({
          nodes    = string
          reasons  = optional(list(string))
          schedule = optional(string)
          duration = optional(string)
          timeZone = optional(string)
        })))
        windows = optional(list(object({
          schedule = string
          duration = string
          timeZone = optional(string)
        })))
      }))
    }))
    nodePools = optional(map(object({
      enabled                                 = optional(bool)
      scaleDownCPURequestRatioLimit           = optional(number)
      scaleDownMemoryRequestRatioLimit        = optional(number)
      scaleDownRequiredUnderutilizedNodeCount = optional(number)
      minimumNodeAge                          = optional(string)
      excessNodesThreshold                    = optional(number)
      maxNodesPerPass                         = optional(number)
      headroom                                = optional(string)
      kubeSystemPods                          = optional(string)
      localStorage                            = optional(string)
      longGrace                               = optional(string)
      unprotected                             = optional(string)
      singleReplicas                          = optional(string)
      jobs                                    = optional(string)
      minimumPodAge                           = optional(string)
      ignoreTaints                            = optional(list(string))
      timeSinceLastAddition                   = optional(string)
      rate = optional(object({
        nodes = string
        per   = string
      }))
      disruption = optional(object({
        consolidationPolicy = optional(string)
        consolidateAfter    = optional(string)
        expireAfter         = optional(string)
        budgets = optional(list(object({
          nodes    = string
          reasons  = optional(list(string))
          schedule = optional(string)
          duration = optional(string)
          timeZone = optional(string)
        })))
        windows = optional(list(object({
          schedule = string
          duration = string
          timeZone = optional(string)
        })))
      }))
    })))
  })
  nullable = false
  default  = {}

  validation {
    condition     = alltrue([for pool in values(coalesce(var.policy.nodePools, {})) : pool != null])
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
    condition     = var.policy_file == null ? true : can(keys(yamldecode(file(var.policy_file))))
    error_message = "policy_file: it is no YAML mapping; `ebb policy check FILE` says where."
  }
}
