#!/bin/bash
# strategy_test.sh NAME TABLE PAGE …: fails where a page does not hold its table between its marks.
set -eu
status=0
while [ $# -gt 0 ]; do
  if ! sed -n "/^<!-- $1/,/^<!-- end of $1/p" "$3" | sed '1d;$d' | diff - "$2"; then
    echo "stale; build $2 and put it between the marks of $3" >&2
    status=1
  fi
  shift 3
done
exit $status
