#!/usr/bin/env bash
# Fuzzes: run.sh FUZZER [SECONDS]. FUZZER is a built target of test/fuzz (--config=fuzz); its seeds
# are small files of its kind in test/corpus and beside the unit tests. A finding is left as
# crash-*, timeout-* or oom-* in the current folder; mend it and make it a case of the unit tests.
set -euo pipefail
fuzzer=$(realpath "$1")
seconds=${2:-600}
root=$(realpath "$(dirname "$0")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/corpus" "$work/seed" "$work/new"
for archive in fluid18 static26 pir33; do tar --zstd -xf "$root/test/corpus/$archive.tar.zst" -C "$work/corpus"; done

# Files of at most this many kilobytes that find's other words select.
seeds() {
  find "$work/corpus" "$root/test/runtime/io/pickles" -type f -size "-$1k" "${@:2}" | sort | while read -r file; do
    cp "$file" "$work/seed/$(echo "$file" | md5sum | cut -c1-16)"
  done
}
flags=(-max_len=16384 -timeout=10 -rss_limit_mb=4096 -print_final_stats=1)
case $(basename "$fuzzer") in
  import_fuzzer) seeds 12 '(' -name '*.pdmodel' -o -name main.json -o -name startup.json ')'; flags+=(-dict="$root/test/fuzz/import/program.dict") ;;
  pickle_fuzz) seeds 16 '(' -name '*.pkl' -o -name '*.pdparams' -o -name '*.pdopt' ')' ;;
  npy_fuzz) seeds 8 -name '*.npy' ;;
  tensor_record_fuzz) seeds 8 -path '*/init/*' ;;
  *) echo "run.sh: $fuzzer has no seeds here" >&2; exit 2 ;;
esac
# LLVM's own objects are not instrumented: what its headers poison in our code its library does not
# unpoison.
export ASAN_OPTIONS=detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0:allocator_may_return_null=1
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
"$fuzzer" "$work/new" "$work/seed" "${flags[@]}" -max_total_time="$seconds"
