# Which Debian packages each chore needs, and how ./dev installs them. Sourced.

declare -A PACKAGES=(
  [build]="g++ cmake ninja-build ccache pkg-config libfmt-dev libexpected-dev
    libhwy-dev zlib1g-dev libpng-dev libjpeg62-turbo-dev libxxhash-dev
    libpcre2-dev libutf8proc-dev libcli11-dev nlohmann-json3-dev libtomlplusplus-dev"
  [demo]="dataset-fashion-mnist bible-kjv bible-kjv-text"
  [test]="libgtest-dev libgmock-dev librapidcheck-dev lld valgrind python3
    dataset-fashion-mnist"
  [lint]="clang-format clang-tidy universal-ctags git python3"
  [fuzz]="clang clang-14 libclang-rt-14-dev lld"
  [coverage]="gcovr python3"
  [docs]="doxygen python3"
  [python]="python3-dev python3-venv"
  [bench]="libbenchmark-dev"
  [browser]="chromium-headless-shell"
  [mpi]="openmpi-bin libopenmpi-dev"
  [clang]="clang-19"
  [arm64]="g++-aarch64-linux-gnu qemu-user libfmt-dev:arm64 libhwy-dev:arm64
    zlib1g-dev:arm64 libpng-dev:arm64 libjpeg62-turbo-dev:arm64
    libxxhash-dev:arm64 libpcre2-dev:arm64 libutf8proc-dev:arm64 libtomlplusplus-dev:arm64
    libgtest-dev:arm64 libgmock-dev:arm64 librapidcheck-dev:arm64"
  [peers]="python3-torch libtorch-dev libdnnl-dev ocl-icd-opencl-dev
    libopenblas-dev libopenblas0-pthread libopenblas0-openmp libblis4-openmp
    libmimalloc2.0"
)
# Those that ./dev setup installs. Others are asked for by name: browser (100 MB)
# for the tests of the memory page, mpi (130 MB) for the engine of several
# processes and its tests, both skipped without it, and clang and arm64 for their
# chores; arm64 adds an architecture to the system.
readonly -a ALL_GROUPS=(build demo test lint fuzz coverage docs bench peers)

# The packages of the groups that are not installed, on one line.
missing_packages() {
  local group package state
  local -A have=()
  local -a wanted=()
  for group in "$@"; do
    [[ -n ${PACKAGES[$group]:-} ]] || die "there is no package group '$group'"
    # shellcheck disable=SC2206  # a list of words by design
    wanted+=(${PACKAGES[$group]})
  done
  while read -r package state; do
    if [[ $state != installed ]]; then continue; fi
    have[$package]=1
    if [[ $package != *:arm64 ]]; then have[${package%%:*}]=1; fi
  done < <(dpkg-query -W -f '${binary:Package} ${db:Status-Status}\n' \
    "${wanted[@]}" 2>/dev/null)
  local -a missing=()
  for package in "${wanted[@]}"; do
    if [[ -z ${have[$package]:-} ]]; then
      missing+=("$package")
      have[$package]=1  # name it once
    fi
  done
  echo "${missing[*]}"
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    sudo "$@"
  fi
}

apt() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq \
    -o Dpkg::Use-Pty=0 "$@" </dev/null
}

# Packages of ARM64 can be installed from now on.
allow_arm64() {
  if dpkg --print-foreign-architectures | grep -qx arm64; then return; fi
  as_root dpkg --add-architecture arm64
  apt update
}

# Installs from the package lists at hand, or else from fresh ones.
install_packages() {
  if [[ $* == *:arm64* ]]; then allow_arm64; fi
  if ! apt-cache show "$@" >/dev/null 2>&1; then
    apt update && apt install -y --no-install-recommends "$@"
  else
    apt install -y --no-install-recommends "$@" ||
      { apt update && apt install -y --no-install-recommends "$@"; }
  fi
}

# require GROUP...: returns when the packages of the groups are installed.
require() {
  if [[ -n ${NEAP_NO_INSTALL:-} ]]; then return; fi
  local missing log=build/setup.log
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    # shellcheck disable=SC2046  # joins the lines of the lists
    die "this is not Debian: install by hand (here by Debian's names)" \
      $(for group in "$@"; do echo "${PACKAGES[$group]}"; done) \
      "and set NEAP_NO_INSTALL=1"
  fi
  missing=$(missing_packages "$@")
  if [[ -z $missing ]]; then return; fi
  if ((EUID != 0)) && ! command -v sudo >/dev/null; then
    die "neither root nor sudo: install by hand: apt-get install $missing"
  fi
  say "installing: $missing"
  mkdir -p build
  # shellcheck disable=SC2086  # a list of words by design
  if ! install_packages $missing >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    die "installing packages failed; the whole log is in $log"
  fi
}
