#!/usr/bin/env bash
# Runs call_args.py over the kernels of the checkout that this test lies in.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
exec python3 "$here/call_args.py" "$here/../../runtime/kernels/cpu/ops"
