#!/bin/bash
# Runs one lit test in a folder of its own: run_lit.sh TEST TOOL... (called by lit.bzl).
set -eu
test_file="$PWD/$1"
shift
root="$(mktemp -d "${TEST_TMPDIR:-/tmp}/lit.XXXXXX")"
trap 'rm -rf "$root"' EXIT
mkdir "$root/bin"
cp "$PWD/tools/lit/lit.cfg.py" "$root/lit.cfg.py"
ln -s "$test_file" "$root/$(basename "$test_file")"
for tool in "$@"; do ln -s "$PWD/$tool" "$root/bin/$(basename "$tool")"; done
DTRANSPILE_WORKSPACE="$PWD" /usr/lib/llvm-22/bin/lit -v "$root/$(basename "$test_file")"
