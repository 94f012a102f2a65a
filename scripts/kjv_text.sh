#!/usr/bin/env bash
# The King James Bible as plain text, a verse a line, without the labels that
# the distribution's `bible` prints in front ("Ge1:1 In the beginning ...").
#
#   scripts/kjv_text.sh > kjv.txt
#
# Debian packages: bible-kjv, bible-kjv-text.
set -euo pipefail

readonly VERSES=31102

if ! command -v bible >/dev/null; then
  echo "kjv_text: apt-get install bible-kjv bible-kjv-text" >&2
  exit 1
fi
bible -f gen1:1-rev22:21 | awk -v verses="$VERSES" '
  # A label is one word: book, chapter, colon, verse.
  !match($0, /^[^ ]+:[0-9]+ /) {
    print "kjv_text: line " NR " begins with no label" > "/dev/stderr"
    bad = 1
    exit
  }
  { print substr($0, RLENGTH + 1) }
  END {
    if (!bad && NR != verses) {
      print "kjv_text: " NR " verses, expected " verses > "/dev/stderr"
      bad = 1
    }
    exit bad
  }'
