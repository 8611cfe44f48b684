# Terraform drops a field that an object's type does not know; here it is refused. The type in variables.tf is the only list
# of fields: the written inputs are compared with those that the type keeps.

locals {
  misspelt = flatten([
    for input, fields in var.written : [
      for field in try(keys(fields), []) : (
        !contains(keys(var.input[input]), field)
        ? ["${input}.${field}"]
        : [for inner in try(setsubtract(keys(fields[field]), keys(var.input[input][field])), []) : "${input}.${field}.${inner}"]
      )
    ]
  ])
}

output "misspelt" {
  value = local.misspelt

  precondition {
    condition     = length(local.misspelt) == 0
    error_message = join("\n", [for path in local.misspelt : "${path}: there is no such field; terraform/README.md has all of them."])
  }
}
