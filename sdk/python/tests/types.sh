#!/usr/bin/env bash
# types.sh WORK: the client and a use of it under mypy --strict, which Debian has.
# Exit code 77: it is not here.
set -u
cd "$(dirname "$0")/.." || exit 1
command -v mypy >/dev/null || { echo "skipped: there is no mypy here"; exit 77; }
exec mypy --cache-dir "$1/mypy" troupe tests/typed_use.py
