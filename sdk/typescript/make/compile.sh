#!/usr/bin/env bash
# compile.sh TO: the sources as modules of both kinds with their declarations, by
# the tsc on the path.
set -euo pipefail
to=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/.."
tsc -p tsconfig.json --outDir "$to"/esm
tsc -p tsconfig.cjs.json --outDir "$to"/cjs
echo '{"type": "commonjs"}' >"$to"/cjs/package.json
# Declarations keep the names of sources, which are not in the archive.
find "$to" -name '*.d.ts' -exec sed -i -E 's/(from "\.[^"]*)\.ts"/\1.js"/; s/(import\("\.[^"]*)\.ts"/\1.js"/g' {} +
