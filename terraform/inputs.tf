# Each input in its full form, with its defaults; a field that does not exist is refused.

module "inputs" {
  source = "./inputs"

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

  installation = { project = var.project, region = local.region, bucket_name = local.bucket_name }

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
}
