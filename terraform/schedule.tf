# When the planner is called. The offset spreads the clusters of a fleet over the interval, without anybody sleeping:
# it is a hash of the cluster's full name, so it never changes. The minutes are listed rather than written
# as 2-59/5, which not every reader of cron schedules understands alike.

locals {
  # As a rule, by which marks are kept; and at most, by which the alert on missing passes waits.
  every_minutes    = coalesce(local.inputs.schedule.every_minutes, 5)
  interval_minutes = coalesce(local.inputs.schedule.longest_gap_minutes, local.every_minutes)

  offset_minutes = parseint(substr(sha256("offset ${local.cluster_id}"), 0, 8), 16) % local.every_minutes
  cron = (
    local.inputs.schedule.cron != null
    ? local.inputs.schedule.cron
    : "${join(",", range(local.offset_minutes, 60, local.every_minutes))} * * * *"
  )
}
