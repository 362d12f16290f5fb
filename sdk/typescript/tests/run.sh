#!/usr/bin/env bash
# run.sh BINARY WORK TRANSPILER: run.mjs by the Node that is here.
# Exit code 77: there is none, or nothing that erases types.
command -v node >/dev/null || { echo "skipped: there is no node here"; exit 77; }
exec node "$(dirname "$0")/run.mjs" "$@"
