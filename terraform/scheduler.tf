resource "google_cloud_scheduler_job" "planner" {
  project     = var.project
  region      = coalesce(local.inputs.schedule.region, local.region)
  name        = local.planner_name
  description = "A pass of Ebb over ${local.cluster_id}"
  schedule    = local.cron
  time_zone   = local.inputs.schedule.time_zone

  # `paused` pauses Ebb in its policy and not here: the planner also heals.
  paused = false

  # Cloud Scheduler starts no execution before the last one has answered, as long as it waits for the answer.
  attempt_deadline = "${local.inputs.functions.planner.timeout_seconds + 20}s"

  # The next tick is the retry.
  retry_config {
    retry_count = 0
  }

  http_target {
    http_method = "POST"
    uri         = google_cloudfunctions2_function.functions["planner"].service_config[0].uri

    oidc_token {
      service_account_email = local.identities["scheduler"].email
      audience              = google_cloudfunctions2_function.functions["planner"].service_config[0].uri
    }
  }

  # The first tick finds a policy, and may call.
  depends_on = [google_cloud_run_v2_service_iam_member.invokers["planner"], google_storage_bucket_object.policy]
}

# The summary of the week on the hour. If this call is lost, or passes are seldom, the next pass publishes it.
resource "google_cloud_scheduler_job" "weekly" {
  count = local.week.enabled ? 1 : 0

  project          = var.project
  region           = google_cloud_scheduler_job.planner.region
  name             = "${local.name}-weekly"
  description      = "Ebb's weekly summary for ${local.cluster_id}"
  schedule         = "0 ${local.week.hour} * * ${local.week.day}"
  time_zone        = local.week.time_zone
  attempt_deadline = google_cloud_scheduler_job.planner.attempt_deadline

  # A pass may keep the one instance busy; it publishes the summary at its end, too.
  retry_config {
    retry_count = 3
  }

  http_target {
    http_method = "POST"
    uri         = google_cloudfunctions2_function.functions["planner"].service_config[0].uri
    headers     = { "Content-Type" = "application/json" }
    body        = base64encode(jsonencode({ only = "weekly_summary" }))

    oidc_token {
      service_account_email = local.identities["scheduler"].email
      audience              = google_cloudfunctions2_function.functions["planner"].service_config[0].uri
    }
  }

  depends_on = [google_cloud_run_v2_service_iam_member.invokers["planner"]]
}
