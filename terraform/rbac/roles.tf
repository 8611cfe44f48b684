# infra/rbac.yaml and infra/options/*.yaml, the single source, as Terraform's resources. `kubectl apply` of the outputs `rbac` and
# `optional_rights` of the module above does the same; use one of the two.

locals {
  # Identities are put in afterwards, leaf by leaf: a first plan does not know them yet, and the keys of `for_each` must be known.
  documents = {
    for name in concat(["rbac.yaml", "admission.yaml"], [for right in var.optional_rights : "options/${right}.yaml"]) :
    name => [for text in split("\n---\n", file("${path.module}/../../infra/${name}")) : yamldecode(text)]
  }
  objects = { for each in flatten(values(local.documents)) : "${each.kind}/${each.metadata.name}" => each }
}

resource "kubernetes_cluster_role_v1" "roles" {
  for_each = { for key, object in local.objects : key => object if object.kind == "ClusterRole" }

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
      condition     = var.admission || contains(local.documents["rbac.yaml"][*].metadata.name, each.value.metadata.name)
      error_message = "optional_rights: an optional right is made only with its admission policy; leave `admission` true, or apply the module's output `optional_rights` by kubectl."
    }
  }

  depends_on = [kubernetes_manifest.policy_bindings] # the admission policy is made before the right, and removed after it
}

resource "kubernetes_cluster_role_binding_v1" "bindings" {
  for_each = { for key, object in local.objects : key => object if object.kind == "ClusterRoleBinding" }

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

  depends_on = [kubernetes_cluster_role_v1.roles]
}
