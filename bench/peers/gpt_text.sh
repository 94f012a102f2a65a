#!/usr/bin/env bash
# A small GPT on a text by Neap and by PyTorch: from the same weights, on the
# same blocks, with the same settings. What it gives is in docs/training.md.
#
#   bench/peers/gpt_text.sh NEAP TEXT FOLDER [STEPS]
#
# NEAP is the tool (build/release/bin/neap), TEXT a file. In FOLDER it leaves
# neap.jsonl and torch.jsonl, a line for every step, and neap_validation.jsonl.
# Debian packages: python3-torch python3-numpy libopenblas0-pthread.
set -euo pipefail

if (($# < 3)); then
  sed -n '2,9s/^# \?//p' "$0" >&2
  exit 2
fi
neap=$(realpath "$1") text=$(realpath "$2") folder=$3 steps=${4:-4000}
readonly neap text folder steps every=$(((steps + 3) / 4))
script=$(realpath "${BASH_SOURCE[0]%/*}/gpt_text_torch.py")
mkdir -p "$folder"
cd "$folder"
rm -f neap.* neap_validation.jsonl at.*

run=(train --model gpt --data text --path "$text" --batch 16
  --optimizer adamw --threads 1 --compile --progress none)

# The weights before the first step.
"$neap" "${run[@]}" --lr 0 --schedule constant --steps 1 \
  --save initial.safetensors >/dev/null

# A checkpoint replaces the one before; another link to it keeps it.
keep_checkpoint() {
  local step
  ln -f neap.safetensors at.new 2>/dev/null || return 0  # none yet
  step=$(head -c 65536 at.new |
    grep -ao -m1 '"neap.optimizer.steps":"[0-9]*"' | grep -o '[0-9]*')
  if ((step < steps)) && [[ ! -e at.$step.safetensors ]]; then
    mv at.new "at.$step.safetensors"
  fi
}

"$neap" "${run[@]}" --lr 2e-3 --warmup 100 --weight-decay 0.1 --clip 1 \
  --steps "$steps" --metrics neap.jsonl --save neap.safetensors \
  --save-every "$every" >neap.txt &
training=$!
trap 'kill $training 2>/dev/null || true' EXIT
while kill -0 $training 2>/dev/null; do
  keep_checkpoint
  sleep 1
done
wait $training
rm -f at.new
grep '^test loss' neap.txt

for at in at.*.safetensors; do
  step=${at#at.}
  loss=$("$neap" eval --load "$at" --data text --path "$text" --threads 1 \
    --json - | grep '"loss"' | grep -o '[0-9.]*')
  echo "{\"step\":${step%.*},\"validation_loss\":$loss}"
done >neap_validation.jsonl

LD_LIBRARY_PATH=/usr/lib/$(uname -m)-linux-gnu/openblas-pthread \
  OPENBLAS_NUM_THREADS=1 /usr/bin/python3 "$script" "$text" \
  initial.safetensors torch.jsonl --steps "$steps" --every "$every"
