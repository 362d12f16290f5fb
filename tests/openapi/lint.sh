#!/usr/bin/env bash
# lint.sh DIRECTORY: net/api/openapi.json under Redocly and Spectral, which are
# installed there by their lock file.
# Exit code 77: this machine has no node or npm, or cannot reach a registry.
set -u
here=$(cd "$(dirname "$0")" && pwd)
to=$1
document=$here/../../net/api/openapi.json
bash "$here"/../support/hosts/npm_ci.sh "$here" "$to" || exit
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
