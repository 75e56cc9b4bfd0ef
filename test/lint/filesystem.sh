#!/usr/bin/env bash
# The program asks for files through runtime/io alone: std::filesystem throws, and file streams wait
# for pipes, read devices without end, and leave half a file.
set -euo pipefail
root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
[ -d "$root/runtime/io" ] || { echo "$root is no checkout"; exit 1; }
cd "$root"

# Files of the kernel (/proc, /sys) never block; generators run in the build only.
allowed='^(compiler/import/guarded_parse|runtime/exec/left_memory|runtime/launch/process(ors)?|tools/call_args/main|tools/coverage/generate)\.cc:'
found=$(grep -rnE --include='*.cc' --include='*.h' \
  '#include <(filesystem|fstream)>|std::filesystem::|std::[io]?fstream|\bfopen\(|raw_fd_ostream|MemoryBuffer::getFile' \
  compiler dialects passes runtime tools | grep -vE "$allowed" || true)
# The importer reads standard input and pipes as well, to the limit of the format.
found=$(grep -v '^compiler/import/load\.cc:.*std::fopen' <<<"$found" || true)
if [ -n "$found" ]; then
  echo "use runtime/io (filesystem.h, bytes.h, output.h, staged.h) instead:"
  echo "$found"
  exit 1
fi
