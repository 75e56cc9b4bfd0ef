#!/bin/bash
# archive.sh OPS ARCHIVE: counts the op types of an unpacked `ops` anew and packs it (test/corpus/README.md).
set -eu
python3 - "$1" <<'PY'
import collections, glob, json, sys

count = collections.Counter()
for path in glob.glob(sys.argv[1] + "/*/*/case.json"):
    with open(path) as f:
        count.update(set(json.load(f)["op_types"]))
with open(sys.argv[1] + "/op_types.txt", "w") as f:
    f.write("# cases  op type\n")
    for name, number in sorted(count.items()):
        f.write("%7d  %s\n" % (number, name))
PY
exec "$(dirname "$0")/../../test/corpus/pack.sh" "$1" "$2"
