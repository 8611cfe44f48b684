mock_provider "kubernetes" {}

variables {
  planner = "planner@my-project.iam.gserviceaccount.com"
  drainer = "drainer@my-project.iam.gserviceaccount.com"
}

run "every_object_of_the_file_is_made" {
  command = plan

  assert {
    condition     = length(kubernetes_cluster_role_v1.roles) + length(kubernetes_cluster_role_binding_v1.bindings) == length(local.documents["rbac.yaml"])
    error_message = "Every object of infra/rbac.yaml is made, and no other."
  }
  assert {
    condition = alltrue([
      for key, role in kubernetes_cluster_role_v1.roles : [
        for rule in role.rule : jsonencode([sort(rule.api_groups), sort(rule.resources), sort(rule.verbs)])
        ] == [
        for rule in local.objects[key].rules : jsonencode([sort(rule.apiGroups), sort(rule.resources), sort(rule.verbs)])
      ]
    ])
    error_message = "Every role has the file's rules."
  }
  assert {
    condition = toset([for binding in kubernetes_cluster_role_binding_v1.bindings : "${binding.role_ref[0].name} ${binding.subject[0].kind} ${binding.subject[0].name}"]) == toset([
      "ebb-planner User planner@my-project.iam.gserviceaccount.com",
      "ebb-drainer User drainer@my-project.iam.gserviceaccount.com",
    ])
    error_message = "Each function has its own role."
  }
}

run "the_admission_policies_limit_the_drainer" {
  command = plan

  assert {
    condition     = length(kubernetes_manifest.policies) + length(kubernetes_manifest.policy_bindings) == length(local.documents["admission.yaml"]) && length(local.documents["admission.yaml"]) == 6
    error_message = "Every object of infra/admission.yaml is made, and no other."
  }
  assert {
    condition = alltrue([
      for policy in kubernetes_manifest.policies :
      policy.manifest.spec.matchConditions[0].expression == "request.userInfo.username == 'drainer@my-project.iam.gserviceaccount.com'"
    ])
    error_message = "The admission policies limit the drainer's identity alone."
  }
}

run "the_admission_policies_may_be_left_to_kubectl" {
  command = plan

  variables {
    admission = false
  }

  assert {
    condition     = length(kubernetes_manifest.policies) + length(kubernetes_manifest.policy_bindings) == 0
    error_message = "Without `admission` the submodule makes the rights alone."
  }
}

run "no_optional_right_is_made_unasked" {
  command = plan

  assert {
    condition     = keys(kubernetes_cluster_role_v1.roles) == ["ClusterRole/ebb-drainer", "ClusterRole/ebb-planner"]
    error_message = "Without optional_rights none is made."
  }
}

run "an_optional_right_comes_with_its_admission_policy" {
  command = plan

  variables {
    optional_rights = ["surge"]
  }

  assert {
    condition     = jsonencode([for rule in kubernetes_cluster_role_v1.roles["ClusterRole/ebb-drainer-surge"].rule : [rule.api_groups, rule.resources, rule.verbs]]) == jsonencode([[["apps"], ["deployments"], ["patch"]]])
    error_message = "The right is to patch Deployments, and nothing else."
  }
  assert {
    condition     = contains([for binding in kubernetes_cluster_role_binding_v1.bindings : "${binding.role_ref[0].name} ${binding.subject[0].kind} ${binding.subject[0].name}"], "ebb-drainer-surge User drainer@my-project.iam.gserviceaccount.com")
    error_message = "The drainer alone has it."
  }
  assert {
    condition = alltrue([
      length(kubernetes_manifest.policies) == 4 && length(kubernetes_manifest.policy_bindings) == 4,
      kubernetes_manifest.policies["ValidatingAdmissionPolicy/ebb-drainer-surge"].manifest.spec.matchConditions[0].expression == "request.userInfo.username == 'drainer@my-project.iam.gserviceaccount.com'",
    ])
    error_message = "The right's admission policy limits the drainer."
  }
}

run "an_optional_right_without_its_admission_policy_is_refused" {
  command = plan

  variables {
    admission       = false
    optional_rights = ["surge"]
  }

  expect_failures = [kubernetes_cluster_role_v1.roles]
}

run "an_optional_right_that_is_none_is_refused" {
  command = plan

  variables {
    optional_rights = ["everything"]
  }

  expect_failures = [var.optional_rights]
}

run "an_identity_is_an_address" {
  command = plan

  variables {
    planner = "planner"
    drainer = ""
  }

  expect_failures = [var.planner, var.drainer]
}
