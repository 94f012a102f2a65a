#!/usr/bin/env bash
# The commit that a change is counted from: where HEAD left origin/main. Empty
# where there is no such commit; base_commit.sh --or-before then says HEAD~1.
# --or-checked says the commit that .ci/checked names instead, where that is a
# later one, or there is no other: the latest at which all tests passed with
# both sanitizers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
head=$(git rev-parse --verify --quiet HEAD) || head=
base=$(git merge-base HEAD origin/main 2>/dev/null) || base=
if [[ $base == "$head" ]]; then base=; fi
if [[ -z $base && ${1:-} == --or-before ]]; then
  base=$(git rev-parse --verify --quiet HEAD~1) || base=
elif [[ ${1:-} == --or-checked && -f .ci/checked ]]; then
  checked=$(<.ci/checked)
  if git merge-base --is-ancestor "$checked" HEAD 2>/dev/null &&
    { [[ -z $base ]] || git merge-base --is-ancestor "$base" "$checked"; }; then
    base=$checked
  fi
fi
echo "$base"
