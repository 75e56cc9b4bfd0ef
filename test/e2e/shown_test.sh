#!/usr/bin/env bash
# shown_test.sh TABLE RULES: fails where a pair that composes names no test, or one that the package does not have. The one exception is said.
set -euo pipefail
status=0
unshown='`lamb` | `sync_batch_norm`' # no program of the corpora has both adam and batch_norm
while read -r line; do
  test=$(sed -n 's|.*`//test/e2e:\([^`]*\)`.*|\1|p' <<<"$line")
  if [ -z "$test" ]; then
    case $line in *"$unshown"*) continue ;; esac
    echo "no test shows: $line" >&2
    status=1
  elif ! grep -qxF "$test" "$2"; then
    echo "no test //test/e2e:$test: $line" >&2
    status=1
  fi
done < <(grep '^| `.*| composes |' "$1")
exit $status
