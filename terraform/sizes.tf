# In what the two functions differ, and how large they are.

locals {
  functions = {
    # One pass at a time; the lease in the state holds where the platform does not, and outlives the call.
    planner = {
      name            = local.planner_name
      entry_point     = "plan"
      cpu             = local.inputs.functions.planner.cpu
      memory          = local.planner_memory
      timeout_seconds = local.inputs.functions.planner.timeout_seconds
      instances       = 1
      concurrency     = 1
      environment = {
        EBB_PASS_SECONDS   = tostring(local.inputs.functions.planner.timeout_seconds + 60)
        EBB_WEEKLY_SUMMARY = local.week.enabled ? "${local.week.day} ${local.week.hour} ${local.week.time_zone}" : "off"
      }
    }
    # A drain waits far more than it computes: twenty share one vCPU, each in a thread. (Without THREADS,
    # functions-framework has four.)
    drainer = {
      name            = local.drainer_name
      entry_point     = "drain"
      cpu             = "1"
      memory          = local.drainer_memory
      timeout_seconds = local.inputs.functions.drainer.timeout_seconds
      instances       = local.inputs.functions.drainer.instances
      concurrency     = 20
      environment     = { EBB_STEP_SECONDS = tostring(local.inputs.functions.drainer.step_seconds), THREADS = "20" }
    }
  }
  week           = local.inputs.schedule.weekly_summary
  orders_at_once = local.functions.drainer.instances * local.functions.drainer.concurrency

  # A pass takes 560 MiB at 5,000 nodes whose pods have every rule of placement, 840 at 15,000.
  planner_memory = coalesce(
    local.inputs.functions.planner.memory,
    local.inputs.cluster.nodes > 15000 ? "4Gi" : local.inputs.cluster.nodes > 5000 || local.inputs.functions.planner.cpu == "4" ? "2Gi" : "1Gi",
  )

  # Its orders share one snapshot of the cluster. Measured with 20 at once: +47 MiB over an idle 92 at 500 nodes and 15,000
  # pods, +266 at 5,000 and 150,000; TLS and what the platform itself holds come on top.
  drainer_memory = coalesce(
    local.inputs.functions.drainer.memory,
    local.inputs.cluster.nodes <= 1000 ? "512Mi" : local.inputs.cluster.nodes <= 5000 ? "1Gi" : "2Gi",
  )
}
