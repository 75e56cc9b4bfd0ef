#!/bin/bash
# strategy_test.sh TABLE PAGE: fails where the page does not hold the table between its marks.
set -eu
if ! sed -n '/^<!-- fields/,/^<!-- end of fields/p' "$2" | sed '1d;$d' | diff - "$1" ; then
  echo "stale; build //compiler/strategy:fields.md and put it between the marks of docs/strategy.md" >&2
  exit 1
fi
