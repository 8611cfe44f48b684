# Every rule of tflint's own Terraform ruleset but one.
plugin "terraform" {
  enabled = true
  preset  = "all"
}

# Files are named by what they hold here: there is no main.tf, and the policy's type has a file of its own.
rule "terraform_standard_module_structure" {
  enabled = false
}
