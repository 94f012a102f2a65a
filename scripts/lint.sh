#!/usr/bin/env bash
# Format, clang-tidy, layers, doors, sizes, words, docs and messages of commits. Looks
# at the files that differ from origin/main (or from the commit before), or with --all
# at every file. clang-tidy takes some seconds a file: of a change that is larger it
# sees the files that changed most. Needs a configured build/release; ./dev lint sees
# to that.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=${NEAP_JOBS:-$(nproc)}
readonly MOST_UNITS=60  # for clang-tidy, without --all
readonly COMMANDS=build/lint  # of the build, as clang-tidy takes them

# The commit that changes are counted from; empty when there is none.
base_commit() {
  scripts/base_commit.sh --or-before
}

sources() {
  git ls-files --cached --others --exclude-standard '*.hpp' '*.cpp'
}

changed_sources() {
  local base
  base=$(base_commit)
  if [[ -z $base ]]; then
    sources
  else
    git diff --name-only "$base" -- '*.hpp' '*.cpp'
    git ls-files --others --exclude-standard '*.hpp' '*.cpp'
  fi
}

# Those whose text changed in more than the names of headers, most changed first.
changed_texts() {
  local base
  base=$(base_commit)
  if [[ -z $base ]]; then
    sources
  else
    git ls-files --others --exclude-standard '*.hpp' '*.cpp'
    scripts/changed_sources.py "$base"
  fi
}

existing() {
  local file
  while IFS= read -r file; do
    if [[ -f $file ]]; then echo "$file"; fi
  done | sort -u
}

# clang reads no header that g++ compiled beforehand, and knows not all of its
# options. Without the former it also sees what a source uses and does not include.
write_commands() {
  mkdir -p "$COMMANDS"
  sed -E 's/ -Winvalid-pch -include [^ ]*cmake_pch\.hxx//
    s/ -(fpch-preprocess|Wno-restrict|Wno-stringop-overflow)//g
    s/ -DNB_BACKEND_PYPI=[^ ]*//g' \
    build/release/compile_commands.json >"$COMMANDS/compile_commands.json"
}

# Translation units of the build among the files, in their order; a header counts
# as the source of its name.
units_of() {
  local file
  for file in "$@"; do
    file=${file%.hpp}
    file=${file%.cpp}.cpp
    if grep -qF "\"file\": \"$PWD/$file\"" "$COMMANDS/compile_commands.json"
    then
      echo "$file"
    fi
  done | awk '!seen[$0]++'
}

step() {
  local title=$1
  shift
  printf '== %s\n' "$title"
  if ! "$@"; then
    failed+=("$title")
  fi
}

check_format() {
  printf '%s\0' "${files[@]}" |
    xargs -0 -r -n 32 -P "$jobs" clang-format --dry-run -Werror
}

# tidy FILE: prints findings only; clang-tidy's own counts are noise.
tidy() {
  local -a options=(-p "$COMMANDS" --quiet)
  if [[ $1 == *_test.cpp || $1 == *_bench.cpp || $1 == tests/* ]]; then
    options+=('--checks=-clang-analyzer-*,-performance-*')
  fi
  local text status=0
  text=$(clang-tidy "${options[@]}" "$1" 2>&1) || status=$?
  grep -vE '^$|^[0-9]+ warnings? (generated|treated)' <<<"$text" || true
  return "$status"
}
export -f tidy
export COMMANDS

check_tidy() {
  printf '%s\0' "${units[@]}" |
    xargs -0 -r -n 1 -P "$jobs" bash -c 'tidy "$1"' tidy
}

main() {
  local -a files units changed failed=()
  local of="" base
  write_commands
  if [[ ${1:-} == --all ]]; then
    mapfile -t files < <(sources | existing)
    mapfile -t units < <(units_of "${files[@]}")
  else
    mapfile -t files < <(changed_sources | existing)
    mapfile -t changed < <(changed_texts)
    mapfile -t units < <(units_of "${changed[@]}")
    if ((${#units[@]} > MOST_UNITS)); then
      of=" of ${#units[@]} (--all: every file)"
      units=("${units[@]:0:MOST_UNITS}")
    fi
  fi
  if ((${#files[@]})); then
    step "format of ${#files[@]} files" check_format
  fi
  if ((${#units[@]})); then
    step "clang-tidy on ${#units[@]} files$of" check_tidy
  fi
  step "layers" scripts/check_layers.py
  step "doors" scripts/check_doors.py
  step "surroundings" scripts/check_surroundings.py
  step "noexcept" scripts/check_noexcept.py
  step "public headers" scripts/check_public_headers.py
  step "sizes" scripts/check_sizes.py
  step "words" scripts/check_words.py
  step "docs" scripts/check_docs.py
  base=$(base_commit)
  if [[ -n $base ]]; then step "commits" scripts/check_commits.py "$base"; fi
  if ((${#failed[@]})); then
    printf 'lint: failed: %s\n' "${failed[@]}" >&2
    exit 1
  fi
}

main "$@"
