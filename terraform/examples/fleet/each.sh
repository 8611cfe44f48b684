#!/bin/sh
# Run a terraform command for every file of clusters/, or for the clusters that are named:
#
#   ./each.sh plan
#   ./each.sh apply prod-west prod-north
#
# One name chooses the variables, the state and the data folder, so that one cluster's variables never meet another's state.
set -eu
command=$1
shift
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- $(ls clusters | sed -n 's/\.tfvars$//p')

export TF_PLUGIN_CACHE_DIR="${TF_PLUGIN_CACHE_DIR:-$PWD/.terraform/plugins}"
mkdir -p "$TF_PLUGIN_CACHE_DIR"
for name; do
  echo "== $command $name"
  export TF_DATA_DIR=".terraform/$name"
  terraform init -input=false -backend-config="prefix=ebb/$name"
  terraform "$command" -var-file="clusters/$name.tfvars"
done
