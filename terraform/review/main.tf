# What people look at once a week, over all clusters: metrics by cluster in each project, and in the first project a dashboard
# and saved queries. Generated in infra/ from the tables of infra/monitoring.

locals {
  root    = "${path.module}/../.."
  first   = var.projects[0]
  fleet   = yamldecode(templatefile("${local.root}/infra/fleet.yaml", local.tokens))
  tokens  = { name = var.name, projects = join("\",\"", [for each in var.projects : "projects/${each}"]) }
  metrics = { for pair in setproduct(var.projects, keys(local.fleet.metrics)) : join("/", pair) => pair }
}

resource "google_logging_metric" "fleet" {
  for_each = local.metrics

  project          = each.value[0]
  name             = "${var.name}/${each.value[1]}"
  description      = local.fleet.metrics[each.value[1]].description
  filter           = local.fleet.metrics[each.value[1]].filter
  value_extractor  = local.fleet.metrics[each.value[1]].value == "" ? null : local.fleet.metrics[each.value[1]].value
  label_extractors = local.fleet.metrics[each.value[1]].labels

  metric_descriptor {
    metric_kind  = "DELTA"
    value_type   = local.fleet.metrics[each.value[1]].value_type
    unit         = local.fleet.metrics[each.value[1]].unit
    display_name = "${var.name}: ${replace(each.value[1], "_", " ")}"

    dynamic "labels" {
      for_each = toset(keys(local.fleet.metrics[each.value[1]].labels))

      content {
        key        = labels.value
        value_type = "STRING"
      }
    }
  }

  dynamic "bucket_options" {
    for_each = local.fleet.metrics[each.value[1]].value_type == "DISTRIBUTION" ? [1] : []

    content {
      exponential_buckets {
        num_finite_buckets = 64
        growth_factor      = 1.5
        scale              = 0.01
      }
    }
  }
}

resource "google_monitoring_dashboard" "fleet" {
  project        = local.first
  dashboard_json = templatefile("${local.root}/infra/fleet-dashboard.json", local.tokens)
}

resource "google_logging_saved_query" "queries" {
  for_each = local.fleet.queries

  parent       = "projects/${local.first}"
  location     = "global"
  name         = "${var.name}-${each.key}"
  display_name = "Ebb, all clusters: ${each.value.title}"
  description  = each.value.description
  visibility   = "SHARED"

  logging_query {
    filter = each.value.filter
  }
}
