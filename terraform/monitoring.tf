# What people see: metrics, a dashboard and alerts, as the files of infra/ hold them.
# Filters and metrics carry the cluster's name: two clusters of one project never count each other's lines.

locals {
  monitoring = {
    cluster                   = local.cluster_id
    name                      = local.name
    planner                   = local.planner_name
    drainer                   = local.drainer_name
    orders_subscription       = local.orders_name
    dead_letters_subscription = local.dead_letters_name
    missed_passes             = local.inputs.alerts.missed_passes
    absence_seconds           = local.absence_seconds
    window_seconds            = local.absence_seconds - 60 # the condition on it lasts a minute
  }
  metrics = {
    for key, metric in yamldecode(templatefile("${local.root}/infra/metrics.yaml", local.monitoring)) : key => metric
    # A series for each node costs money, and without every verdict it would have holes.
    if !metric.per_node || local.inputs.functions.decision_log == "all"
  }

  # Half an interval lets the last pass arrive: one or two missing passes of three are no news, nor is a metric that is
  # ten minutes late. Cloud Monitoring takes 2 minutes to 23.5 hours; rarer passes cannot be missed in time.
  absence_minutes = max(ceil((local.inputs.alerts.missed_passes + 0.5) * local.interval_minutes), local.interval_minutes + 12)
  absence_seconds = 60 * min(local.absence_minutes, 1410)
  alerts = {
    for key, alert in yamldecode(templatefile("${local.root}/infra/alerts.yaml", local.monitoring)) : key => alert
    if local.inputs.alerts.enabled && (key != "no_pass" || local.absence_minutes <= 1410)
  }
}

resource "google_logging_metric" "metrics" {
  for_each = local.metrics

  project          = var.project
  name             = "${local.name}/${each.key}"
  description      = each.value.description
  filter           = each.value.filter
  value_extractor  = each.value.value == "" ? null : each.value.value
  label_extractors = each.value.labels

  metric_descriptor {
    metric_kind  = "DELTA"
    value_type   = each.value.value_type
    unit         = each.value.unit
    display_name = "${local.name}: ${replace(each.key, "_", " ")}"

    dynamic "labels" {
      for_each = toset(keys(each.value.labels))

      content {
        key        = labels.value
        value_type = "STRING"
      }
    }
  }

  # Gauges are read as means, which do not depend on the buckets; these suit milliseconds and seconds.
  dynamic "bucket_options" {
    for_each = each.value.value_type == "DISTRIBUTION" ? [1] : []

    content {
      exponential_buckets {
        num_finite_buckets = 64
        growth_factor      = 1.5
        scale              = 0.01
      }
    }
  }

  depends_on = [time_sleep.apis]
}

# A new metric is not known everywhere at once ("it could take up to 10 minutes"), and an alert on one that is not known is
# answered with 404. Only PromQL conditions can switch that off (disable_metric_validation). The wait runs during the
# builds, which take longer.
resource "time_sleep" "metrics" {
  count = local.inputs.alerts.enabled ? 1 : 0

  create_duration = "180s"
  triggers        = { metrics = sha256(jsonencode(local.metrics)) }

  depends_on = [google_logging_metric.metrics]
}

resource "google_monitoring_alert_policy" "alerts" {
  for_each = local.alerts

  project               = var.project
  display_name          = "Ebb ${local.name}: ${each.value.title}"
  combiner              = "OR"
  severity              = each.value.severity
  notification_channels = local.inputs.alerts.notification_channels
  user_labels           = local.labels

  dynamic "conditions" {
    for_each = each.value.conditions

    content {
      display_name = conditions.value.title

      dynamic "condition_absent" {
        for_each = conditions.value.kind == "absent" ? [conditions.value] : []

        content {
          filter   = condition_absent.value.filter
          duration = condition_absent.value.duration

          aggregations {
            alignment_period     = condition_absent.value.period
            per_series_aligner   = condition_absent.value.aligner
            cross_series_reducer = condition_absent.value.reducer
          }
        }
      }

      dynamic "condition_threshold" {
        for_each = conditions.value.kind == "threshold" ? [conditions.value] : []

        content {
          filter                  = condition_threshold.value.filter
          comparison              = condition_threshold.value.comparison
          threshold_value         = condition_threshold.value.threshold
          duration                = condition_threshold.value.duration
          evaluation_missing_data = condition_threshold.value.missing == "" ? null : condition_threshold.value.missing

          aggregations {
            alignment_period     = condition_threshold.value.period
            per_series_aligner   = condition_threshold.value.aligner
            cross_series_reducer = condition_threshold.value.reducer
          }
        }
      }
    }
  }

  documentation {
    mime_type = "text/markdown"
    subject   = "Ebb ${local.name}: ${each.value.title}"
    content   = each.value.documentation
  }

  alert_strategy {
    auto_close = "3600s"
  }

  depends_on = [time_sleep.metrics]
}

resource "google_monitoring_dashboard" "ebb" {
  project        = var.project
  dashboard_json = templatefile("${local.root}/infra/dashboard.json", local.monitoring)

  depends_on = [time_sleep.apis]
}

check "missing_passes_can_be_noticed" {
  assert {
    condition     = !local.inputs.alerts.enabled || local.absence_minutes <= 1410
    error_message = "alerts: ${local.inputs.alerts.missed_passes} passes of this schedule take longer than the 23.5 hours that Cloud Monitoring can look back; there is no alert on missing passes."
  }
}
