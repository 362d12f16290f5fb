#!/usr/bin/env bash
# npm_ci.sh FROM TO: a folder of ours with its npm packages, installed by its
# lock file into a folder of the build.
# Exit code 77: this machine has no node or npm, or cannot reach a registry.
set -u
from=$1
to=$2
command -v node >/dev/null || { echo "skipped: there is no node here"; exit 77; }
command -v npm >/dev/null || { echo "skipped: there is no npm here"; exit 77; }
mkdir -p "$to"
cp "$from"/package.json "$from"/package-lock.json "$from"/.npmrc "$to"/ || exit 1
for more in "$from"/*.mjs "$from"/*.yaml; do
  [ ! -e "$more" ] || cp "$more" "$to"/ || exit 1
done
stamp="$to/installed"
if ! cmp -s "$to/package-lock.json" "$stamp"; then
  (cd "$to" && timeout 200 npm ci >npm.log 2>&1) \
    || { echo "skipped: npm ci does not work here:"; tail -3 "$to/npm.log"; exit 77; }
  cp "$to/package-lock.json" "$stamp"
fi
