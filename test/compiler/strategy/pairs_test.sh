#!/bin/bash
# pairs_test.sh TABLE: fails where a pair is shown by a test that neither test/e2e/BUILD.bazel nor
# cases.bzl defines.
set -eu
status=0
names=$(grep -o '//test/e2e:[a-z_0-9]*' "$1" | sed 's/.*://' | sort -u)
[ -n "$names" ] || { echo "the table of pairs names no test" >&2; exit 1; }
for name in $names; do
  key=${name#train_}
  grep -q "\"$key\"" test/e2e/BUILD.bazel test/e2e/cases.bzl && continue
  echo "there is no test //test/e2e:$name" >&2
  status=1
done
exit $status
