#!/usr/bin/env bash
# Whether an op is a gradient is said by its row (OpSpec::gradient), not by the end of its name:
# `cross_entropy_grad2` is one, and other tables may have names of their own.
set -euo pipefail
root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
[ -d "$root/runtime/io" ] || { echo "$root is no checkout"; exit 1; }
cd "$root"

# Asks for the name of the op of which this one is the gradient, which only the name has.
allowed='^compiler/verify/refinement/formula_rows\.cc:'
found=$(grep -rnE --include='*.cc' --include='*.h' 'ends_with\("_grad"\)|endswith\("_grad"\)' \
  compiler dialects passes | grep -vE "$allowed" || true)
if [ -n "$found" ]; then
  echo "ask the op's row (OpView::spec()->gradient) instead:"
  echo "$found"
  exit 1
fi
