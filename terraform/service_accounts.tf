# One identity for each thing that is done, with exactly what it takes; no two share a right that one could do without.

locals {
  # Those that somebody else has made; the module grants them what they need.
  given_accounts = { for key, email in local.inputs.identities : key => email if email != null }

  accounts = merge(
    {
      for key, title in {
        drainer   = "Ebb's drainer, ${local.inputs.cluster.name}"
        planner   = "Ebb's planner, ${local.inputs.cluster.name}"
        push      = "Pub/Sub, to call Ebb's drainer, ${local.inputs.cluster.name}"
        scheduler = "Cloud Scheduler, to call Ebb's planner, ${local.inputs.cluster.name}"
      } : key => title if !contains(keys(local.given_accounts), key)
    },
    local.inputs.build.create ? { build = "Builds Ebb's functions, ${local.inputs.cluster.name}" } : {},
  )
  account_ids = {
    build     = "${local.name}-build"
    drainer   = "${local.name}-drainer"
    planner   = "${local.name}-planner"
    push      = "${local.name}-push"
    scheduler = "${local.name}-tick"
  }
  identities = merge(
    { for key, account in google_service_account.accounts : key => { email = account.email, member = account.member, name = account.name } },
    {
      for key, email in local.given_accounts :
      key => { email = email, member = "serviceAccount:${email}", name = "projects/-/serviceAccounts/${email}" }
    },
  )
  build_account = local.inputs.build.create ? local.identities["build"].email : local.inputs.build.service_account

  # Its address shows in which project it is: a@my-project.iam.gserviceaccount.com, and of the project example.com:my-project
  # a@my-project.example.com.iam.gserviceaccount.com. Any other address is taken for one of the functions' project.
  build_place = try(
    reverse(compact(regex("@([^.]+)\\.?(.*)\\.iam\\.gserviceaccount\\.com$", local.inputs.build.service_account))), [var.project]
  )
  build_account_name = "projects/${join(":", local.build_place)}/serviceAccounts/${local.build_account}"
}

resource "google_service_account" "accounts" {
  for_each = local.accounts

  project      = var.project
  account_id   = local.account_ids[each.key]
  display_name = each.value

  depends_on = [time_sleep.apis]
}
