# Each input in its full form, with its defaults: `local.inputs`. A field that does not exist is refused.

locals {
  written = {
    alerts     = var.alerts
    bucket     = var.bucket
    build      = var.build
    cluster    = var.cluster
    database   = var.database
    encryption = var.encryption
    functions  = var.functions
    identities = var.identities
    network    = var.network
    schedule   = var.schedule
  }
  inputs = module.inputs.all
}

module "inputs" {
  source = "./inputs"

  input        = local.written
  written      = local.written
  installation = { project = var.project, region = local.region, bucket_name = local.bucket_name }
}
