#!/usr/bin/env bash
set -euo pipefail
exec python3 test/dialects/dist/every_op.py dialects/dist/ops.td test/dialects/dist test/compiler/specialize test/compiler/lower/dist
