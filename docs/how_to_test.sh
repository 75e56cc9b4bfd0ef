#!/bin/bash
# how_to_test.sh PROGRAM PAGE: from the runfiles of a test.
set -eu
exec python3 "$1" "$PWD/tools/dtranspile" "$PWD/test/corpus/fluid18" "$2"
