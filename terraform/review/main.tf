# What people look at once a week, over all clusters: metrics by cluster in each project, and in the first project a dashboard
# and saved queries. Kept in infra/.

locals {
  root   = "${path.module}/../.."
  first  = var.projects[0]
  fleet  = yamldecode(templatefile("${local.root}/infra/fleet.yaml", local.tokens))
  tokens = { name = var.name, projects = join("\",\"", [for each in var.projects : "projects/${each}"]) }
  metrics = {
    for pair in setproduct(var.projects, keys(local.fleet.metrics)) :
    join("/", pair) => merge(local.fleet.metrics[pair[1]], { project = pair[0], name = pair[1] })
  }
}

resource "google_logging_metric" "fleet" {
  for_each = local.metrics

  project          = each.value.project
  name             = "${var.name}/${each.value.name}"
  description      = each.value.description
  filter           = each.value.filter
  value_extractor  = each.value.value == "" ? null : each.value.value
  label_extractors = each.value.labels

  metric_descriptor {
    metric_kind  = "DELTA"
    value_type   = each.value.value_type
    unit         = each.value.unit
    display_name = "${var.name}: ${replace(each.value.name, "_", " ")}"

    dynamic "labels" {
      for_each = toset(keys(each.value.labels))

      content {
        key        = labels.value
        value_type = "STRING"
      }
    }
  }

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
