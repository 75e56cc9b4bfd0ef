#!/usr/bin/env bash
# Finds the tool and the corpus in the runfiles and calls train_case.py; arguments: CASE RANKS [TRANSPILE FLAG...].
set -euo pipefail
root=${TEST_SRCDIR:?run through Bazel}/dtranspile
export XDG_CACHE_HOME=${TEST_TMPDIR:-/tmp}
exec python3 "$root/test/e2e/train_case.py" "$root/tools/dtranspile" "$root/test/corpus" "$@"
