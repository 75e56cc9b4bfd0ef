#!/bin/bash
# Fuzzes the importer: run.sh FUZZER CORPUS_FOLDER [SECONDS]. Seeds are the small programs of the corpora (test/corpus, unpacked). A finding
# is left as crash-*, timeout-* or oom-* in the current folder; make it a case of test/compiler/import/.
set -eu
fuzzer="$(realpath "$1")"
corpus="$2"
seconds="${3:-600}"
here="$(dirname "$(realpath "$0")")"
seeds="$(mktemp -d)"
trap 'rm -rf "$seeds"' EXIT
mkdir "$seeds/seed" "$seeds/new"
find -L "$corpus" \( -name '*.pdmodel' -o -name main.json -o -name startup.json \) -size -12k | sort | awk 'NR % 5 == 0' | while read -r file; do
  cp "$file" "$seeds/seed/$(echo "$file" | md5sum | cut -c1-16)"
done
# LLVM's own objects are not instrumented: what its headers poison in our code its library does not unpoison.
ASAN_OPTIONS="detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0:allocator_may_return_null=1" UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1" \
  "$fuzzer" "$seeds/new" "$seeds/seed" -dict="$here/program.dict" -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=4096 -print_final_stats=1
