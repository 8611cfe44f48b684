# What people see. What the metrics count, and when the alerts speak, is tested with the tables that they are written
# from; here: that all of it is made, carries the cluster's name and hangs together.

mock_provider "google" {
  source = "./tests/mocks"
}
mock_provider "archive" {}
mock_provider "time" {}

variables {
  project = "my-project"
  cluster = { name = "prod", location = "europe-west1" }
  alerts  = { notification_channels = ["projects/my-project/notificationChannels/1"] }
}

run "everything_is_made_under_the_clusters_name" {
  command = plan

  assert {
    condition = alltrue([
      for each in google_logging_metric.metrics :
      startswith(each.name, "${local.name}/") && length(each.name) <= 100 &&
      strcontains(each.filter, "labels.cluster=\"${local.cluster_id}\"") &&
      strcontains(each.filter, "resource.type=\"cloud_run_revision\"")
    ])
    error_message = "A metric counts the lines of this cluster's functions alone, under a name of its own."
  }
  assert {
    condition = alltrue([
      for each in google_logging_metric.metrics :
      each.metric_descriptor[0].metric_kind == "DELTA" &&
      (each.value_extractor != null) == (each.metric_descriptor[0].value_type == "DISTRIBUTION") &&
      length(each.bucket_options) == (each.value_extractor != null ? 1 : 0) &&
      join(",", sort(keys(each.label_extractors))) == join(",", sort([for label in each.metric_descriptor[0].labels : label.key]))
    ])
    error_message = "A distribution has an extractor and buckets, a counter has neither, and every label is declared."
  }
  assert {
    condition     = length([for key, each in google_logging_metric.metrics : key if startswith(key, "node_")]) == 0
    error_message = "A series for each node is made only on request."
  }
  assert {
    condition = toset(keys(google_monitoring_alert_policy.alerts)) == toset([
      "breaker_open", "dead_letters", "drain_failed", "errors", "no_pass", "old_messages", "overdue", "policy_invalid",
    ])
    error_message = "There is an alert for each thing that people have to hear of."
  }
  assert {
    condition = alltrue([
      for each in google_monitoring_alert_policy.alerts :
      each.notification_channels == tolist(["projects/my-project/notificationChannels/1"]) &&
      strcontains(each.display_name, local.name) && strcontains(each.documentation[0].content, "**Do**") &&
      alltrue([
        for condition in each.conditions :
        length(condition.condition_absent) + length(condition.condition_threshold) == 1
      ])
    ])
    error_message = "An alert reaches somebody, says whose it is and what to do, and each condition is of one kind."
  }
  assert {
    condition = alltrue(flatten([
      for each in google_monitoring_alert_policy.alerts : [
        for metric in flatten([
          for condition in each.conditions :
          regexall("logging.googleapis.com/user/([^\"]+)", join(" ", concat(
            condition.condition_absent[*].filter, condition.condition_threshold[*].filter,
          )))
        ]) : contains([for made in google_logging_metric.metrics : made.name], metric)
      ]
    ]))
    error_message = "An alert watches metrics that are made."
  }
  assert {
    condition = alltrue([
      for tile in jsondecode(google_monitoring_dashboard.ebb.dashboard_json).mosaicLayout.tiles :
      alltrue([
        for metric in flatten(regexall("logging.googleapis.com/user/([^\"\\\\]+)", jsonencode(tile))) :
        contains([for made in google_logging_metric.metrics : made.name], trimsuffix(metric, "_sum"))
      ])
    ])
    error_message = "The dashboard shows metrics that are made."
  }
  assert {
    condition     = !strcontains(google_monitoring_dashboard.ebb.dashboard_json, "$${")
    error_message = "Every name in the dashboard is filled in."
  }
}

run "missing_passes_are_noticed_after_three_and_a_half_intervals" {
  command = plan

  assert {
    condition = (
      google_monitoring_alert_policy.alerts["no_pass"].conditions[0].condition_absent[0].duration == "1080s" &&
      google_monitoring_alert_policy.alerts["no_pass"].conditions[1].condition_threshold[0].aggregations[0].alignment_period == "1020s"
    )
    error_message = "Of passes every 5 minutes one may be missing and two; three are an alert."
  }
}

run "every_minute" {
  command = plan

  variables {
    schedule = { every_minutes = 1 }
  }

  assert {
    condition     = local.absence_seconds == 780
    error_message = "A metric that is ten minutes late is no news."
  }
}

run "passes_that_are_too_rare_have_no_alert_and_that_is_said" {
  command = plan

  variables {
    schedule = { cron = "0 3 * * *", every_minutes = 1440, longest_gap_minutes = 1440 }
  }

  expect_failures = [check.missing_passes_can_be_noticed]

  assert {
    condition     = !contains(keys(google_monitoring_alert_policy.alerts), "no_pass")
    error_message = "Cloud Monitoring cannot look back that far."
  }
}

run "series_for_each_node_on_request" {
  command = plan

  variables {
    functions = { decision_log = "all" }
  }

  assert {
    condition     = length([for key, each in google_logging_metric.metrics : key if startswith(key, "node_")]) == 6
    error_message = "With every verdict in the log the six series of each node are made."
  }
}

run "without_alerts" {
  command = plan

  variables {
    alerts = { enabled = false }
  }

  assert {
    condition     = length(google_monitoring_alert_policy.alerts) == 0 && length(google_logging_metric.metrics) > 0
    error_message = "Alerts can be left out; metrics and dashboard stay."
  }
}
