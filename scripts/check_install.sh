#!/usr/bin/env bash
# Installs a build and builds tests/consumer against it, by find_package and by
# pkg-config: scripts/check_install.sh BUILD_DIR
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

# Runs a command quietly, but for one that fails.
quietly() {
  if ! "$@" >"$work/log" 2>&1; then
    cat "$work/log" >&2
    exit 1
  fi
}

quietly cmake --install "$build" --prefix "$prefix"
library_dir=$(dirname "$(find "$prefix" -name 'libneap.*' | head -n 1)")
export LD_LIBRARY_PATH=$library_dir

echo "-- find_package"
quietly cmake -S tests/consumer -B "$work/consumer" -G Ninja \
  -DCMAKE_PREFIX_PATH="$prefix"
quietly cmake --build "$work/consumer"
"$work/consumer/consumer"

echo "-- pkg-config"
export PKG_CONFIG_PATH=$library_dir/pkgconfig
# shellcheck disable=SC2046  # flags are words
g++ -std=c++20 tests/consumer/main.cpp $(pkg-config --cflags --libs neap) \
  -o "$work/consumer_pc"
"$work/consumer_pc"
# A library that exports too little shows only where programs are linked.
if [[ $(find "$prefix" -name 'libneap.so') ]]; then
  echo "-- examples"
  printf '%s\0' examples/*.cpp | xargs -0 -n 1 -P "$(nproc)" sh -c '
    g++ -std=c++20 -O0 "$0" $(pkg-config --cflags --libs neap) -o /dev/null'
fi
echo "neap.pc says version $(pkg-config --modversion neap)"
