# The admission policies of infra/admission.yaml and of optional rights. The provider has no typed resource for them in version 2;
# `kubernetes_manifest` asks the cluster for their form, so a plan must reach it.

resource "kubernetes_manifest" "policies" {
  for_each = { for key, object in local.objects : key => object if var.admission && object.kind == "ValidatingAdmissionPolicy" }

  manifest = merge(each.value, {
    spec = merge(each.value.spec, {
      matchConditions = [
        for condition in each.value.spec.matchConditions :
        merge(condition, { expression = replace(replace(condition.expression, "$${drainer}", var.drainer), "$${planner}", var.planner) })
      ]
    })
  })

  field_manager {
    force_conflicts = true # an apply restores what somebody edited by kubectl
  }
}

resource "kubernetes_manifest" "policy_bindings" {
  for_each = { for key, object in local.objects : key => object if var.admission && object.kind == "ValidatingAdmissionPolicyBinding" }

  manifest = each.value

  field_manager {
    force_conflicts = true # an apply restores what somebody edited by kubectl
  }

  depends_on = [kubernetes_manifest.policies]
}
