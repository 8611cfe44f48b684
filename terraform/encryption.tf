# Google's services use the key in the name of their own agents.
# An agent that has never been used is not there yet, and a grant to it is refused: README.md has the commands that make
# them. Cloud Storage's is made by asking for it.
# https://cloud.google.com/functions/docs/securing/cmek, https://cloud.google.com/firestore/native/docs/cmek

locals {
  agents = {
    artifacts = "gcp-sa-artifactregistry"
    firestore = "gcp-sa-firestore"
    functions = "gcf-admin-robot"
    pubsub    = "gcp-sa-pubsub"
    run       = "serverless-robot-prod"
    storage   = "gs-project-accounts"
  }
}

resource "google_kms_crypto_key_iam_member" "agents" {
  for_each = local.inputs.encryption.key != null && local.inputs.encryption.grant ? { for key, agent in local.agents : key => agent if key != "firestore" || local.inputs.encryption.database } : {}

  crypto_key_id = local.inputs.encryption.key
  role          = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
  member        = "serviceAccount:service-${data.google_project.this.number}@${each.value}.iam.gserviceaccount.com"

  depends_on = [time_sleep.apis, data.google_storage_project_service_account.storage]
}

data "google_storage_project_service_account" "storage" {
  count = local.inputs.encryption.key != null && local.inputs.encryption.grant ? 1 : 0

  project = var.project
}
