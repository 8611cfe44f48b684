# infra/rbac.yaml, the single source, as Terraform's resources. `kubectl apply` of the output `rbac` of the module above
# does the same; use one of the two.

locals {
  # The names are put in afterwards: at the first plan Google has not given the identities yet, and what is made must be
  # known by then.
  documents = [for document in split("\n---\n", file("${path.module}/../../infra/rbac.yaml")) : yamldecode(document)]
  objects   = { for each in local.documents : "${each.kind}/${each.metadata.name}" => each }
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

  depends_on = [kubernetes_manifest.fence_bindings] # the admission policy is made before the right, and removed after it
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
