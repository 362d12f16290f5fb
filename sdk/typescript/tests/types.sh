#!/usr/bin/env bash
# types.sh WORK: the client, and a use of it, under `tsc --strict`; then as another
# project sees it that has installed the archive, by import and by require.
# Exit code 77: this machine has no node or npm, or cannot reach a registry.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
work=$1
bash "$here"/../../tests/support/hosts/npm_ci.sh "$here" "$work" || exit
work=$(cd "$work" && pwd)
PATH=$work/node_modules/.bin:$PATH
set -e
tsc -p "$here"/tests/tsconfig.json
rm -rf "$work"/dist "$work"/packages "$work"/project
bash "$here"/make/compile.sh "$work"/dist
python3 "$here"/../packages.py "$work"/packages "$work"/dist >"$work"/made
project=$work/project
mkdir "$project"
cp "$here"/tests/project/* "$project"
cd "$project"
npm install --offline --no-audit --no-fund --loglevel=error "$work"/packages/troupe-sdk-*.tgz
tsc -p tsconfig.json
tsc -p tsconfig.bundler.json
node use.mjs
node use.cjs
