#!/usr/bin/env bash
# The wheel for Python, built by pip, installed into an environment of its own
# for every CPython from 3.10 on that this machine has, and tested there.
# usage: test_wheel.sh [PYTEST...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder=build/wheel
rm -rf "$folder"
mkdir -p "$folder"
echo "== building the wheel (log: $folder/pip.log)"
/usr/bin/python3 -m venv "$folder/builder"
CMAKE_CXX_COMPILER_LAUNCHER=$(command -v ccache || true) \
  "$folder/builder/bin/pip" wheel . --no-deps -w "$folder" \
  >"$folder/pip.log" 2>&1 || { tail -n 20 "$folder/pip.log" >&2 && exit 1; }
wheel=("$folder"/neap-*.whl)
ls -l "${wheel[0]}"
if (($(stat -c %s "${wheel[0]}") > 4000000)); then
  echo "test_wheel: the wheel has more than 4 MB (4 000 000 B)" >&2
  exit 1
fi
for python in /usr/bin/python3.1[0-9] "$HOME"/.pyenv/versions/3.1[0-9]*/bin/python \
  /usr/local/bin/python3.1[0-9]; do
  if [[ ! -x $python ]]; then continue; fi
  echo "== $("$python" --version) ($python)"
  rm -rf "$folder/venv"
  "$python" -m venv "$folder/venv"
  "$folder/venv/bin/pip" install -q "${wheel[0]}[test]"
  (cd bindings/python/tests &&
    "../../../$folder/venv/bin/python" -m pytest -q -p no:cacheprovider \
      --ignore test_examples.py "$@" .)
done
