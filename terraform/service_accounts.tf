# One identity for each thing that is done, with exactly what it takes; no two share a right that one could do without.

locals {
  accounts = merge(
    {
      drainer   = "Ebb's drainer, ${var.cluster.name}"
      planner   = "Ebb's planner, ${var.cluster.name}"
      push      = "Pub/Sub, to call Ebb's drainer, ${var.cluster.name}"
      scheduler = "Cloud Scheduler, to call Ebb's planner, ${var.cluster.name}"
    },
    var.build.create ? { build = "Builds Ebb's functions, ${var.cluster.name}" } : {},
  )
  account_ids = {
    build     = "${local.name}-build"
    drainer   = "${local.name}-drainer"
    planner   = "${local.name}-planner"
    push      = "${local.name}-push"
    scheduler = "${local.name}-tick"
  }
  build_account = var.build.create ? google_service_account.accounts["build"].email : var.build.service_account
}

resource "google_service_account" "accounts" {
  for_each = local.accounts

  project      = var.project
  account_id   = local.account_ids[each.key]
  display_name = each.value

  depends_on = [time_sleep.apis]
}
