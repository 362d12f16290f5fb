#!/usr/bin/env bash
# Every row of the tables of hostile requests (H) and of faults at providers (B)
# is named by the test that holds it: a row without a test is no promise.
cd "$(dirname "$0")" || exit 1
status=0
named() { # letter, first, last
  local i
  for i in $(seq "$2" "$3"); do
    grep -rqw --include='*.cpp' --include='*.hpp' "$1$i" . && continue
    echo "no test names $1$i"
    status=1
  done
}
named H 1 40
named B 40 55
[ $status -eq 0 ] && echo 'rows: each is named by a test'
exit $status
