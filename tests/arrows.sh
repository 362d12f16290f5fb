#!/usr/bin/env bash
# Rooms look down, never up or sideways; only actors/ and app/ speak CAF.
cd "$(dirname "$0")/.." || exit 1
status=0
deny() { # room, forbidden rooms, forbidden libraries
  local hit
  hit=$(grep -rnE --include='*.hpp' --include='*.cpp' \
    "#include ([\"<]($2)/|<($3))" "$1" 2>/dev/null)
  [ -z "$hit" ] && return
  printf '%s/ looks where it must not:\n%s\n' "$1" "$hit"
  status=1
}
deny runtime 'storage|net|actors|app|tests|bench' 'caf/|rocksdb/|boost/beast'
deny storage 'net|actors|app|tests|bench' 'caf/|boost/beast|boost/asio'
deny net 'storage|actors|app|tests|bench' 'caf/|rocksdb/'
deny actors 'app|tests|bench' 'rocksdb/'
deny app 'tests|bench' 'rocksdb/'
[ $status -eq 0 ] && echo 'arrows: every room looks down'
exit $status
