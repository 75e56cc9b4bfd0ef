#!/usr/bin/env bash
# Finds the tool and the corpora in the runfiles and calls a driver below test/: e2e/DRIVER.py
# ARGUMENT...
set -euo pipefail
root=${TEST_SRCDIR:?run through Bazel}/dtranspile
export XDG_CACHE_HOME=${TEST_TMPDIR:-/tmp}
export PYTHONPATH=$root/test/e2e  # what drivers share
driver=$1
shift
exec python3 "$root/test/$driver" "$root/tools/dtranspile" "$root/test/corpus" "$@"
