#!/bin/bash
# index_test.sh DTRANSPILE PAGE: fails where the page is not what the tables give.
set -eu
if ! "$1" ops --format markdown | diff "$2" - ; then
  echo "stale; write it again: bazel-bin/tools/dtranspile/dtranspile ops --format markdown > docs/operators/index.md" >&2
  exit 1
fi
