# infra/options/*.yaml, the single source of what is granted only where it is asked for. Each file's admission policy is made in
# admission.tf, before the right that it limits.

locals {
  option_documents = flatten([
    for name in var.optional_rights : [for text in split("\n---\n", file("${path.module}/../../infra/options/${name}.yaml")) : yamldecode(text)]
  ])
  option_objects = { for each in local.option_documents : "${each.kind}/${each.metadata.name}" => each }
}

resource "kubernetes_cluster_role_v1" "options" {
  for_each = { for key, object in local.option_objects : key => object if object.kind == "ClusterRole" }

  metadata {
    name = each.value.metadata.name
  }

  dynamic "rule" {
    for_each = each.value.rules
    content {
      api_groups = rule.value.apiGroups
      resources  = rule.value.resources
      verbs      = rule.value.verbs
    }
  }

  lifecycle {
    precondition {
      condition     = var.admission
      error_message = "optional_rights: an optional right is made only with its admission policy; leave `admission` true, or apply the module's output `optional_rights` by kubectl."
    }
  }

  depends_on = [kubernetes_manifest.fence_bindings]
}

resource "kubernetes_cluster_role_binding_v1" "options" {
  for_each = { for key, object in local.option_objects : key => object if object.kind == "ClusterRoleBinding" }

  metadata {
    name = each.value.metadata.name
  }

  role_ref {
    api_group = each.value.roleRef.apiGroup
    kind      = each.value.roleRef.kind
    name      = each.value.roleRef.name
  }

  dynamic "subject" {
    for_each = each.value.subjects
    content {
      api_group = subject.value.apiGroup
      kind      = subject.value.kind
      name      = replace(replace(subject.value.name, "$${drainer}", var.drainer), "$${planner}", var.planner)
    }
  }

  depends_on = [kubernetes_cluster_role_v1.options]
}
