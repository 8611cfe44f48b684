# Terraform drops a field that an object's type does not know; here it is refused. The types of variables.tf are the only
# list of fields: what is written is compared with what they make of it.

locals {
  forms = {
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
  fields = flatten([
    for input, fields in var.written : [
      for field in try(keys(fields), []) : { path = "${input}.${field}", input = input, field = field, inner = try(keys(fields[field]), []) }
    ]
  ])
  misspelt = concat(
    [for each in local.fields : each.path if !contains(keys(local.forms[each.input]), each.field)],
    flatten([
      for each in local.fields : [
        for inner in each.inner : "${each.path}.${inner}"
        if !contains(try(keys(local.forms[each.input][each.field]), [inner]), inner)
      ]
    ]),
  )
}

output "misspelt" {
  value = local.misspelt

  precondition {
    condition     = length(local.misspelt) == 0
    error_message = join("\n", [for path in local.misspelt : "${path}: there is no such field; terraform/README.md has all of them."])
  }
}
