#!/usr/bin/env bash
# lint.sh DIRECTORY: net/api/openapi.json under Redocly and Spectral, which are
# installed there by their lock file.
# Exit code 77: this machine has no node or npm, or cannot reach a registry.
set -u
here=$(cd "$(dirname "$0")" && pwd)
to=$1
document=$here/../../net/api/openapi.json
command -v node >/dev/null || { echo "skipped: there is no node here"; exit 77; }
command -v npm >/dev/null || { echo "skipped: there is no npm here"; exit 77; }
mkdir -p "$to"
cp "$here"/package.json "$here"/package-lock.json "$here"/.npmrc \
  "$here"/spectral.yaml "$to"/ || exit 1
stamp="$to/installed"
if ! cmp -s "$to/package-lock.json" "$stamp"; then
  (cd "$to" && timeout 200 npm ci >npm.log 2>&1) \
    || { echo "skipped: npm ci does not work here:"; tail -3 "$to/npm.log"; exit 77; }
  cp "$to/package-lock.json" "$stamp"
fi
cd "$to" || exit 1
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
failed=0
node_modules/.bin/redocly lint "$document" 2>redocly.log \
  || { cat redocly.log; failed=1; }
# A warning of Redocly's counts as well: it ends with 0 all the same.
! grep -q "You have [0-9]* warning" redocly.log || { cat redocly.log; failed=1; }
node_modules/.bin/spectral lint --fail-severity=warn -r spectral.yaml "$document" \
  || failed=1
exit $failed
