#!/usr/bin/env bash
# The commit that a change is counted from: where HEAD left origin/main. Empty
# where there is no such commit; base_commit.sh --or-before then says HEAD~1.
set -euo pipefail
base=$(git merge-base HEAD origin/main 2>/dev/null) || base=
if [[ $base == "$(git rev-parse --verify --quiet HEAD)" ]]; then base=; fi
if [[ -z $base && ${1:-} == --or-before ]]; then
  base=$(git rev-parse --verify --quiet HEAD~1) || base=
fi
echo "$base"
