# infra/admission.yaml (and the admission policies of optional rights), the single source, as Terraform's resources. The provider has no
# typed resource for it in version 2; `kubernetes_manifest` asks the cluster for its form, so a plan must reach it.

locals {
  # Only the leaf is replaced: of a first plan the identity is not known yet, and what is made must be.
  admission = { for each in [for text in split("\n---\n", file("${path.module}/../../infra/admission.yaml")) : yamldecode(text)] : "${each.kind}/${each.metadata.name}" => each }
  fences = {
    for key, each in merge(local.admission, local.option_objects) : key => merge(each, {
      spec = merge(each.spec, {
        matchConditions = [
          for condition in each.spec.matchConditions : merge(condition, { expression = replace(replace(condition.expression, "$${drainer}", var.drainer), "$${planner}", var.planner) })
        ]
      })
    }) if each.kind == "ValidatingAdmissionPolicy"
  }
}

resource "kubernetes_manifest" "fences" {
  for_each = { for key, fence in local.fences : key => fence if var.admission }

  manifest = each.value

  field_manager {
    force_conflicts = true # an apply restores what somebody edited by kubectl
  }
}

resource "kubernetes_manifest" "fence_bindings" {
  for_each = { for key, each in merge(local.admission, local.option_objects) : key => each if var.admission && each.kind == "ValidatingAdmissionPolicyBinding" }

  manifest = each.value

  field_manager {
    force_conflicts = true # an apply restores what somebody edited by kubectl
  }

  depends_on = [kubernetes_manifest.fences]
}
