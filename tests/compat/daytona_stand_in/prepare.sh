#!/usr/bin/env bash
# prepare.sh DIRECTORY: the client, installed there by its lock file.
# Exit code 77: this machine has no node or npm, or cannot reach a registry.
set -u
here=$(cd "$(dirname "$0")" && pwd)
to=$1
command -v node >/dev/null || { echo "skipped: there is no node here"; exit 77; }
command -v npm >/dev/null || { echo "skipped: there is no npm here"; exit 77; }
mkdir -p "$to"
cp "$here"/package.json "$here"/package-lock.json "$here"/.npmrc \
  "$here"/client_test.mjs "$to"/ || exit 1
stamp="$to/installed"
if ! cmp -s "$to/package-lock.json" "$stamp"; then
  (cd "$to" && timeout 100 npm ci >npm.log 2>&1) \
    || { echo "skipped: npm ci does not work here:"; tail -3 "$to/npm.log"; exit 77; }
  cp "$to/package-lock.json" "$stamp"
fi
